#include "flow/trace/code_probe.h"

#include "flow/trace/trace_event.h"

#include <doctest/doctest.h>

#include <cstring>
#include <string>

using namespace flow;

namespace {

template <class T>
void generic(T value) {
    FLOW_CODE_PROBE(value > 10, "generic above ten");
}

[[maybe_unused]] void neverCalled(int number) {
    FLOW_CODE_PROBE(number == 1, "in a function that is not called");
    FLOW_CODE_PROBE(number == 2, "rare, not called", probe::context::sim2, probe::decoration::rare);
}

std::vector<CodeProbe const*> named(std::vector<CodeProbe const*> const& probes, char const* comment) {
    std::vector<CodeProbe const*> found;
    for (CodeProbe const* probe : probes)
        if (std::strcmp(probe->comment(), comment) == 0)
            found.push_back(probe);
    return found;
}

} // namespace

TEST_CASE("code probe: all are listed, hit or not") {
    auto found = named(CodeProbe::all(), "in a function that is not called");
    REQUIRE(found.size() == 1);
    CHECK(found[0]->hits() == 0);
    CHECK(std::string(found[0]->condition()) == "number == 1");
    CHECK(std::string(found[0]->file()) == "tests/flow/trace/code_probe_test.cpp");
    CHECK(std::string(trace::fromRoot("/elsewhere/a.cpp")) == "/elsewhere/a.cpp");
    CHECK(found[0]->line() > 0);
    CHECK_FALSE(found[0]->isRare());
    CHECK(named(CodeProbe::missed(), "in a function that is not called").size() == 1);
    CHECK(named(CodeProbe::all(), "rare, not called").size() == 1);
    CHECK(named(CodeProbe::missed(), "rare, not called").empty());
}

TEST_CASE("code probe: hits are counted, and the first is an event") {
    TraceMemory trace;
    int evaluated = 0;
    auto probe = [&](bool yes) { FLOW_CODE_PROBE((++evaluated, yes), "hits are counted"); };
    probe(false);
    CHECK(named(CodeProbe::missed(), "hits are counted").size() == 1);
    CHECK(trace.lines().empty());
    probe(true);
    probe(true);
    CHECK(evaluated == 3);
    CHECK(named(CodeProbe::missed(), "hits are counted").empty());
    CHECK(named(CodeProbe::all(), "hits are counted")[0]->hits() == 2);
    REQUIRE(trace.lines().size() == 1);
    CHECK(trace.lines()[0].find("\"Type\":\"CodeProbe\",\"Comment\":\"hits are counted\"") != std::string::npos);
}

TEST_CASE("code probe: in a template it is one place, and hit if one instance is") {
    generic(1);
    generic(1L);
    CHECK(named(CodeProbe::all(), "generic above ten").size() == 2);
    CHECK(named(CodeProbe::missed(), "generic above ten").size() == 1);
    generic(11L);
    CHECK(named(CodeProbe::missed(), "generic above ten").empty());
}
