#include "flow/sim/digest.h"

#include "flow/sim/faults.h"

#include <doctest/doctest.h>

#include <set>

using namespace flow;

namespace {
std::string nothing() {
    return "";
}
} // namespace

TEST_CASE("digest: every part of an event counts, and so does the order") {
    SimulationEvent base{1.5, 7, 2, 100, EventKind::Task};
    std::vector<std::vector<SimulationEvent>> runs = {{},
                                                      {base},
                                                      {base, base},
                                                      {{2.5, 7, 2, 100, EventKind::Task}},
                                                      {{1.5, 8, 2, 100, EventKind::Task}},
                                                      {{1.5, 7, 3, 100, EventKind::Task}},
                                                      {{1.5, 7, 2, 101, EventKind::Task}},
                                                      {{1.5, 7, 2, -100, EventKind::Task}},
                                                      {{1.5, 7, 2, 100, EventKind::Fault}},
                                                      {base, {1.5, 8, 2, 100, EventKind::Task}},
                                                      {{1.5, 8, 2, 100, EventKind::Task}, base}};
    std::set<std::uint64_t> values;
    for (auto const& run : runs) {
        Digest digest;
        for (SimulationEvent const& event : run)
            digest.add(event);
        CHECK(digest.events() == run.size());
        values.insert(digest.value());
    }
    CHECK(values.size() == runs.size());
}

TEST_CASE("record: equal runs, a longer one, a shorter one, another event") {
    SimulationEvent a{1, 1, 1, 0, EventKind::Start},
        b{2, 5, 1, static_cast<int>(FaultKind::processKill), EventKind::Fault};
    Record first;
    first.add(a, nothing);
    first.add(b, nothing);
    auto compare = [&](std::vector<SimulationEvent> const& events) {
        Record second(first);
        for (SimulationEvent const& event : events)
            second.add(event, [] { return std::string("of p"); });
        second.finish();
        return second.difference().value_or("");
    };
    CHECK(compare({a, b}) == "");
    CHECK(compare({a}) == "event 1 was the fault at 2.000000000 s in process 1, processKill, detail 0000000000000005; "
                          "now there is nothing more");
    CHECK(compare({a, b, a}) ==
          "event 2 was nothing more; now it is the start of a process at 1.000000000 s in process "
          "1, detail 0000000000000001 (of p)");
    CHECK(compare({b, a}).find("event 0 was the start of a process") == 0);
}
