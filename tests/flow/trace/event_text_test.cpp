#include "flow/trace/event_text.h"

#include "flow/coro/coroutine.h"
#include "flow/sim/sim_loop.h"
#include "flow/trace/detail/date.h"
#include "flow/trace/trace_event.h"
#include "flow/wait/delay.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string>

using namespace flow;

namespace {

std::string textOfEvent(std::string const& line) {
    std::string text;
    trace::appendEventText(text, line);
    return text;
}

std::string dateText(std::int64_t microseconds) {
    std::string text;
    trace::appendDate(text, microseconds);
    return text;
}

} // namespace

TEST_CASE("event text: the date of a simulation is simulated") {
    TraceMemory trace;
    SimLoop loop;
    loop.run([]() -> Future<Void> {
        co_await delay(3661.5);
        TraceEvent(SevWarn, "Later")
            .detail("Peer", "10.0.0.1:80")
            .detail("Text", "a \"b\"\n\x1b[0m")
            .detail("Load", 0.5);
        TraceEvent("Empty").detail("Text", "").detail("Pair", "a=b").detail("Is", true);
    }());
    REQUIRE(trace.lines().size() == 2);
    CHECK(trace.lines()[0].starts_with(
        R"({"DateTime":"2020-01-01T01:01:01.500000Z","Area":"tests/flow/trace","Time":3661.5,"Severity":20,)"));
    CHECK(textOfEvent(trace.lines()[0]) == "2020-01-01T01:01:01.500000Z WARN  tests/flow/trace Later Peer=10.0.0.1:80 "
                                           R"(Text="a \"b\"\n\u001b[0m" Load=0.5)");
    CHECK(textOfEvent(trace.lines()[1]) ==
          R"(2020-01-01T01:01:01.500000Z INFO  tests/flow/trace Empty Text="" Pair="a=b" Is=true)");
}

TEST_CASE("event text: severities, other lines and lines that are cut") {
    auto of = [](char const* severity) {
        return textOfEvent(R"({"DateTime":"D","Severity":)" + std::string(severity) + R"(,"Type":"T","Type_":1})");
    };
    CHECK(of("5") == "D DEBUG T Type_=1");
    CHECK(of("10") == "D INFO  T Type_=1");
    CHECK(of("30") == "D WARN  T Type_=1");
    CHECK(of("40") == "D ERROR T Type_=1");
    CHECK(textOfEvent("free text") == "free text");
    std::string whole = R"({"DateTime":"D","Area":"a","Severity":10,"Type":"T","A":"x\"y","B":-1.5e3,"C":false})";
    for (std::size_t size = 0; size <= whole.size(); ++size)
        textOfEvent(whole.substr(0, size)); // ends, and reads nothing behind the text
}

TEST_CASE("event text: dates are those of the C library, whichever digits change") {
    constexpr std::int64_t kSecond = 1'000'000;
    std::int64_t last = 0;
    for (std::int64_t step : {std::int64_t{1}, std::int64_t{999'999}, kSecond, 59 * kSecond, 3600 * kSecond,
                              86400 * kSecond, 31 * 86400 * kSecond, 366 * 86400 * kSecond, -59 * kSecond, -kSecond})
        for (int i = 0; i < 100; ++i) {
            last = std::max<std::int64_t>(last + step, 0);
            std::time_t seconds = last / kSecond;
            std::tm date;
            ::gmtime_r(&seconds, &date);
            char expected[64];
            std::size_t size = std::strftime(expected, sizeof expected, "%Y-%m-%dT%H:%M:%S", &date);
            std::snprintf(expected + size, sizeof expected - size, ".%06dZ", static_cast<int>(last % kSecond));
            CHECK(dateText(last) == expected);
        }
    CHECK(dateText(-5) == "1970-01-01T00:00:00.000000Z");
    CHECK(dateText(INT64_MAX) == "9999-12-31T23:59:59.999999Z");
}

TEST_CASE("event text: without a loop the date is that of the machine") {
    std::int64_t before = std::int64_t{std::time(nullptr)} * 1'000'000;
    std::int64_t date = trace::currentDate();
    CHECK(date >= before - 2'000'000); // time() may use a coarser clock
}
