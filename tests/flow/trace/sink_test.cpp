#include "flow/trace/sink.h"

#include "flow/base/assert_macros.h"
#include "flow/coro/coroutine.h"
#include "flow/sim/sim_loop.h"
#include "flow/trace/trace_event.h"
#include "tests/flow/support/death.h"
#include "tests/flow/support/file_text.h"
#include "tests/flow/support/sanitizers.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <thread>
#include <vector>

using namespace flow;
using flow::test::countOf;

namespace {

/// A file that is removed at the end.
struct TemporaryFile {
    char path[32] = "/tmp/millrace-sink-XXXXXX";
    TemporaryFile() { ::close(::mkstemp(path)); }
    ~TemporaryFile() { std::remove(path); }
    std::string text() const { return test::fileText(path); }
};

coro::Detached failsAlone(Future<Void> start) {
    co_await start;
    throw io_error();
}

} // namespace

TEST_CASE("sink: the innermost takes the events, and gives way at its end") {
    TraceMemory outer;
    TraceEvent("One");
    {
        TraceMemory inner(SevWarn);
        TraceEvent("Two");
        TraceEvent(SevWarn, "Three");
        inner.setMinimum(SevDebug);
        TraceEvent(SevDebug, "Four");
        CHECK(inner.lines().size() == 2);
        outer.setMinimum(SevError); // of a sink that takes nothing now
        TraceEvent("Five");
        CHECK(inner.lines().size() == 3);
    }
    TraceEvent("Six");
    TraceEvent(SevError, "Seven");
    CHECK(outer.lines().size() == 2);
    outer.clear();
    CHECK(outer.lines().empty());
}

TEST_CASE("sink: each thread has its own") {
    TraceMemory mine;
    std::thread([] {
        TraceEvent("Nowhere");
        TraceMemory theirs;
        TraceEvent("There");
        CHECK(theirs.lines().size() == 1);
    }).join();
    CHECK(mine.lines().empty());
}

TEST_CASE("sink: a file has everything at the end, and everything before an error at once") {
    TemporaryFile file;
    {
        TraceFile trace(file.path);
        TraceEvent("One");
        TraceEvent(SevError, "Two");
        CHECK(countOf(file.text(), "\n") == 2);
        TraceEvent("Three");
        trace.flush();
        CHECK(countOf(file.text(), "\n") == 3);
        for (int i = 0; i < 3000; ++i)
            TraceEvent("Many").detail("Number", i);
        CHECK(countOf(file.text(), "\n") > 1000);
    }
    CHECK(countOf(file.text(), "\n") == 3003);
    {
        TraceFile again(file.path); // appends
        TraceEvent("More");
    }
    CHECK(countOf(file.text(), "\n") == 3004);
    CHECK_THROWS_AS(TraceFile("/no such folder/trace"), Error);
    TraceEvent("Nowhere"); // the one that could not be opened takes nothing
}

TEST_CASE("sink: threads append whole lines to one file") {
    TemporaryFile file;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            TraceFile trace(file.path);
            for (int i = 0; i < 2000; ++i)
                TraceEvent("FromAThread").detail("Text", std::string(50, 'x'));
        });
    for (std::thread& thread : threads)
        thread.join();
    std::string text = file.text();
    CHECK(countOf(text, "\n") == 8000);
    CHECK(countOf(text, std::string(50, 'x') + "\"}\n") == 8000);
}

// ThreadSanitizer lets no child of a program with several threads start a thread.
#if !MILLRACE_UNDER_TSAN
TEST_CASE("sink: a static file is complete after exit, and after an abort") {
    TemporaryFile file;
    test::runInChild([&] {
        static TraceFile trace(file.path);
        TraceEvent("BeforeExit");
        std::exit(0);
    });
    CHECK(countOf(file.text(), "BeforeExit") == 1);
    test::runInChild([&] {
        TraceFile trace(file.path);
        TraceEvent("BeforeAbort");
        FLOW_ASSERT(1 > 2, "the end");
    });
    CHECK(countOf(file.text(), "BeforeAbort") == 1);
    CHECK(countOf(file.text(), "\"Type\":\"AssertionFailed\",\"Message\":\"the end [1 > 2]\"") == 1);
}

TEST_CASE("sink: a file is complete after an uncaught error, with an event about it") {
    TemporaryFile file;
    test::runInChild([&] {
        std::thread other([&] { // the lines of another thread are written, too
            TraceFile trace(file.path);
            TraceEvent("OfAnotherThread");
            std::thread([&] {
                TraceFile own(file.path);
                TraceEvent("BeforeTheError");
                throw io_error();
            }).join();
        });
        other.join();
    });
    CHECK(countOf(file.text(), "OfAnotherThread") == 1);
    CHECK(countOf(file.text(), "BeforeTheError") == 1);
    CHECK(countOf(file.text(), R"("Type":"UncaughtError","Error":"io_error")") == 1);
}
#endif

TEST_CASE("sink: dropped errors are events") {
    SimLoop loop;
    TraceMemory trace;
    Promise<Void> start;
    failsAlone(start.getFuture());
    start.send(Void());
    REQUIRE(trace.lines().size() == 1);
    std::string line = trace.lines()[0];
    INFO(line);
    CHECK(countOf(line, "\"Severity\":40,\"Type\":\"ErrorDropped\",\"Actor\":\"") == 1);
    CHECK(countOf(line, "failsAlone") == 1);
    CHECK(countOf(line, "\"Error\":\"io_error\"") == 1);
}

TEST_CASE("sink: failed assertions are events, and still printed") {
    test::Death child = test::runInChild([] {
        TraceMemory trace;
        try {
            FLOW_ASSERT_TRUE(1 > 2);
        } catch (Error&) {
        }
        for (std::string const& line : trace.lines())
            std::fprintf(stderr, "%s\n", line.c_str());
    });
    INFO(child.text);
    CHECK(child.says("flow: assertion failed: 1 > 2"));
    CHECK(child.says("\"Type\":\"AssertionFailed\",\"Message\":\"1 > 2\",\"File\":\""));
}

TEST_CASE("sink: sinks are destroyed in the reverse order") {
    CHECK_DIES(
        {
            auto* first = new TraceMemory;
            auto* second = new TraceMemory;
            delete first;
            delete second;
        },
        "another order");
}
