#include "flow/trace/perfetto.h"

#include <doctest/doctest.h>

using flow::trace::PerfettoTrace;

TEST_CASE("perfetto: a trace is packets, each with its length") {
    PerfettoTrace trace;
    std::uint64_t track = trace.addTrack("a track", trace.addProcess("a process", 7));
    trace.begin(track, 300, "a slice", {.starts = {1, 2}, .ends = 3, .category = "some", .key = "n", .number = -1});
    trace.end(track, 1u << 20);
    trace.instant(track, 1u << 21, "a slice", {});
    std::string bytes = trace.bytes();
    int packets = 0;
    std::size_t at = 0;
    while (at < bytes.size()) {
        CHECK(bytes[at] == 0x0A); // field 1 of Trace
        std::size_t size = 0;
        int shift = 0;
        while (bytes[++at] & 0x80) {
            size |= std::size_t(bytes[at] & 0x7F) << shift;
            shift += 7;
        }
        size |= std::size_t(bytes[at]) << shift;
        at += 1 + size;
        ++packets;
    }
    CHECK(at == bytes.size());
    CHECK(packets == 6);                                    // names, two descriptors, three events
    CHECK(bytes.find("a slice") == bytes.rfind("a slice")); // named once
}

TEST_CASE("perfetto: traces that are put together have tracks and flows of their own") {
    PerfettoTrace a, b;
    CHECK(a.addTrack("x", a.addProcess("p", 1)) != b.addTrack("x", b.addProcess("p", 1)));
}
