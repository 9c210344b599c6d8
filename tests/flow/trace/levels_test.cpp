#include "flow/trace/levels.h"

#include "flow/base/error.h"
#include "flow/trace/trace_event.h"
#include "tests/flow/support/death.h"

#include <doctest/doctest.h>

#include <limits>
#include <source_location>
#include <string>

using namespace flow;

namespace {

constexpr int kOff = std::numeric_limits<int>::max();

} // namespace

TEST_CASE("levels: one for all, and one for each area below the longest folder that has one") {
    TraceLevels levels(" warn, net=debug ,net/tls=off,shop/=Error,,");
    CHECK(levels.minimum() == SevDebug);
    CHECK(levels.of("flow/trace") == SevWarn);
    CHECK(levels.of("") == SevWarn);
    CHECK(levels.of("net") == SevDebug);
    CHECK(levels.of("net/real") == SevDebug);
    CHECK(levels.of("net/tls") == kOff);
    CHECK(levels.of("net/tls/detail") == kOff);
    CHECK(levels.of("nets") == SevWarn);
    CHECK(levels.of("shop/billing") == SevError);
    CHECK(levels.add("net=error"));
    CHECK(levels.minimum() == SevWarn);
    CHECK(levels.of("net/real") == SevError);
    CHECK(TraceLevels().minimum() == SevInfo);
    CHECK(TraceLevels("off").minimum() == kOff);
}

TEST_CASE("levels: a wrong word is named, and changes nothing") {
    TraceLevels levels("error");
    for (char const* wrong : {"inof", "net=", "=debug", "net", "net=loud", "/=info", "10"})
        CHECK_FALSE(levels.add(wrong));
    CHECK(levels.minimum() == SevError);
    std::string said;
    try {
        TraceLevels("info,net=loud");
    } catch (Error const& error) {
        CHECK(error.code() == error_code_invalid_option_value);
        said = error.what();
    }
    CHECK(said == "TraceLevels: text is \"net=loud\"; each word must be debug, info, warn, error, off or AREA=LEVEL");
}

TEST_CASE("levels: the area of a source is its folder") {
    CHECK(trace::areaOf(std::source_location::current().file_name()) == "tests/flow/trace");
    CHECK(trace::areaOf("/home/me/shop/src/db/table.cpp") == "db");
    CHECK(trace::areaOf("src/db/table.cpp") == "src/db");
    CHECK(trace::areaOf("./src/db/table.cpp") == "src/db");
    CHECK(trace::areaOf("../src/db/table.cpp") == "db");
    CHECK(trace::areaOf("main.cpp").empty());
    CHECK(trace::areaOf("/main.cpp").empty());
}

TEST_CASE("levels: a sink takes the events of the areas that it wants") {
    TraceMemory trace("off,tests=info,shop=debug,tests/other=debug");
    constexpr TraceArea kShop("shop/billing"), kOther("other");
    TraceEvent("Here");
    TraceEvent(SevDebug, "HereInDetail");
    TraceEvent(kShop, SevDebug, "Paid");
    TraceEvent other(kOther, SevError, "Elsewhere");
    CHECK_FALSE(other.isEnabled());
    REQUIRE(trace.lines().size() == 2);
    CHECK(trace.lines()[0].find(R"(","Area":"tests/flow/trace","Severity":10,"Type":"Here"})") != std::string::npos);
    CHECK(trace.lines()[1].find(R"(","Area":"shop/billing","Severity":5,"Type":"Paid"})") != std::string::npos);
    trace.setLevels(SevWarn);
    TraceEvent("Here");
    CHECK(trace.lines().size() == 2);
    TraceInterval interval("Work");
    trace.setMinimum(SevInfo);
    TraceEvent(interval.begin());
    CHECK(trace.lines()[2].find(R"("Area":"tests/flow/trace")") != std::string::npos);
}
