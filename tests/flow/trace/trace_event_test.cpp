#include "flow/trace/trace_event.h"

#include "flow/base/optional.h"
#include "flow/base/random.h"
#include "flow/coro/coroutine.h"
#include "flow/memory/standalone.h"
#include "flow/sim/sim_loop.h"
#include "tests/flow/support/plain_event.h"

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <utility>

using namespace flow;
using test::plainEvent;

namespace {

int described = 0;

struct Costly {
    std::string toString() const {
        ++described;
        return "costly";
    }
};

} // namespace

TEST_CASE("event: one object, in the order of the details") {
    TraceMemory trace;
    TraceEvent("PeerConnected", UID(1, 2)).detail("Address", "10.0.0.1:4500").detail("Attempts", 3).detail("Load", 0.5);
    REQUIRE(trace.lines().size() == 1);
    CHECK(plainEvent(trace.lines()[0]) ==
          "{\"Severity\":10,\"Type\":\"PeerConnected\",\"ID\":\"00000000000000010000000000000002\","
          "\"Address\":\"10.0.0.1:4500\",\"Attempts\":3,\"Load\":0.5}");
}

TEST_CASE("event: the time is that of the loop") {
    TraceMemory trace;
    SimLoop loop;
    auto work = []() -> Future<Void> {
        co_await delay(2.5);
        TraceEvent(SevWarnAlways, "Later");
    };
    loop.run(work());
    REQUIRE(trace.lines().size() == 1);
    CHECK(plainEvent(trace.lines()[0]) == "{\"Time\":2.5,\"Severity\":30,\"Type\":\"Later\"}");
}

TEST_CASE("event: an event that is off evaluates nothing of its own") {
    described = 0;
    TraceEvent off("Off");
    CHECK_FALSE(off.isEnabled());
    off.detail("Costly", Costly()).detailf("Number", "%d", 7).error(io_error()).suppressFor(1);
    off.log();
    CHECK(described == 0);
    TraceMemory trace;
    TraceEvent("On").detail("Costly", Costly());
    TraceEvent(SevDebug, "BelowTheMinimum").detail("Costly", Costly());
    CHECK(described == 1);
    CHECK(trace.lines().size() == 1);
}

TEST_CASE("event: errors") {
    TraceMemory trace;
    TraceEvent(SevWarn, "ReadFailed").error(timed_out());
    TraceEvent("Injected").error(io_error().asInjectedFault());
    TraceEvent("Fine").error(Error());
    TraceEvent("Cancelled").error(actor_cancelled());
    TraceEvent("CancelledToo").errorUnsuppressed(actor_cancelled());
    REQUIRE(trace.lines().size() == 4);
    CHECK(plainEvent(trace.lines()[0]) ==
          "{\"Severity\":20,\"Type\":\"ReadFailed\",\"Error\":\"timed_out\",\"ErrorDescription\":\"" +
              std::string(timed_out().what()) + "\",\"ErrorCode\":1004}");
    CHECK(trace.lines()[1].ends_with("\"ErrorCode\":1510,\"ErrorIsInjectedFault\":true}"));
    CHECK(plainEvent(trace.lines()[2]) == "{\"Severity\":10,\"Type\":\"Fine\"}");
    CHECK(trace.lines()[3].find("\"Error\":\"operation_cancelled\"") != std::string::npos);
}

TEST_CASE("event: values of the runtime's types") {
    TraceMemory trace;
    TraceEvent("E")
        .detail("Ref", "a\xff"_sr)
        .detail("Standalone", Standalone<StringRef>("text"_sr))
        .detail("Optional", Optional<int>())
        .detail("String", std::string("q\"q"))
        .detail("Error", broken_promise())
        .detailf("Printf", "%03d", 7);
    CHECK(plainEvent(trace.lines()[0]) ==
          "{\"Severity\":10,\"Type\":\"E\",\"Ref\":\"a\\\\xff\",\"Standalone\":\"text\","
          "\"Optional\":\"[not set]\",\"String\":\"q\\\"q\",\"Error\":\"broken_promise\","
          "\"Printf\":\"007\"}");
}

TEST_CASE("event: suppressFor writes one in a while, and counts the others") {
    TraceMemory trace;
    auto report = [](double seconds) { TraceEvent("Often").suppressFor(seconds); };
    auto work = [&]() -> Future<Void> {
        for (int i = 0; i < 12; ++i) { // at 0, 1, 2 ... 11
            report(5);
            co_await delay(1);
        }
    };
    {
        SimLoop loop;
        loop.run(work());
        TraceEvent("Other").suppressFor(5);
    }
    REQUIRE(trace.lines().size() == 4);
    CHECK(plainEvent(trace.lines()[0]) == "{\"Time\":0,\"Severity\":10,\"Type\":\"Often\"}");
    CHECK(plainEvent(trace.lines()[1]) == "{\"Time\":5,\"Severity\":10,\"Type\":\"Often\",\"SuppressedEventCount\":4}");
    CHECK(plainEvent(trace.lines()[2]) ==
          "{\"Time\":10,\"Severity\":10,\"Type\":\"Often\",\"SuppressedEventCount\":4}");
    trace.clear();
    SimLoop fresh; // its clock begins again
    report(5);
    report(5);
    CHECK(trace.lines().size() == 1);
}

TEST_CASE("event: a sink limits the events of each type in a second, and counts the others") {
    TraceMemory trace;
    trace.setBurst(2);
    SimLoop loop;
    loop.run([]() -> Future<Void> {
        for (int i = 0; i < 10; ++i) { // at 0, 0.3, 0.6 ... 2.7
            TraceEvent("Flood").detail("Number", i);
            TraceEvent(i % 9 == 0 ? "Rare" : "Often");
            co_await delay(0.3);
        }
    }());
    std::vector<std::string> floods, rare;
    for (std::string const& line : trace.lines()) {
        if (line.find("Flood") != line.npos)
            floods.push_back(line.substr(line.find("Flood") + 6));
        if (line.find("Rare") != line.npos)
            rare.push_back(line);
    }
    CHECK(floods == std::vector<std::string>{R"(,"Number":0})", R"(,"Number":1})",
                                             R"(,"SuppressedEventCount":2,"Number":4})", R"(,"Number":5})",
                                             R"(,"SuppressedEventCount":2,"Number":8})", R"(,"Number":9})"});
    CHECK(rare.size() == 2);
}

TEST_CASE("event: suppressFor without a loop counts seconds of the machine") {
    TraceMemory trace;
    for (double seconds : {1e6, 1e6, 1e6, 0.0})
        TraceEvent("NoLoopOften").suppressFor(seconds);
    REQUIRE(trace.lines().size() == 2);
    CHECK(plainEvent(trace.lines()[0]) == R"({"Severity":10,"Type":"NoLoopOften"})");
    CHECK(plainEvent(trace.lines()[1]) == R"({"Severity":10,"Type":"NoLoopOften","SuppressedEventCount":2})");
}

TEST_CASE("event: suppressFor without the number of those that it left out") {
    TraceMemory trace;
    SimLoop loop;
    loop.run([]() -> Future<Void> {
        for (int i = 0; i < 3; ++i) { // at 0, 5 and 10
            TraceEvent("Uncounted").suppressFor(8, false);
            co_await delay(5);
        }
    }());
    REQUIRE(trace.lines().size() == 2);
    CHECK(plainEvent(trace.lines()[1]) == "{\"Time\":10,\"Severity\":10,\"Type\":\"Uncounted\"}");
}

TEST_CASE("event: sample writes a part of them, and leaves the numbers of a simulation as they are") {
    auto next = [](double probability) {
        SimLoop loop;
        setThreadLocalDeterministicRandomSeed(7);
        for (int i = 0; i < 400; ++i)
            TraceEvent("Sampled").sample(probability);
        return deterministicRandom()->randomUInt64();
    };
    std::uint64_t without = next(0.25);
    TraceMemory trace;
    CHECK(next(0.25) == without);
    CHECK(trace.lines().size() > 50);
    CHECK(trace.lines().size() < 150);
    CHECK(plainEvent(trace.lines()[0]) == "{\"Time\":0,\"Severity\":10,\"Type\":\"Sampled\",\"SampleRate\":0.25}");
    trace.clear();
    next(0);
    CHECK(trace.lines().empty());
    next(1);
    CHECK(trace.lines().size() == 400);
    TraceEvent("Silent").sample(1, false);
    CHECK(plainEvent(trace.lines().back()) == "{\"Severity\":10,\"Type\":\"Silent\"}");
}

TEST_CASE("event: one that is disabled, and one that was never on, are not written") {
    TraceMemory trace;
    TraceEvent never;
    never.detail("A", 1).log();
    TraceEvent disabled("Disabled");
    disabled.disable();
    CHECK_FALSE(disabled.isEnabled());
    disabled.detail("A", 1);
    CHECK(trace.lines().empty());
}

TEST_CASE("event: details that each event of a thread ends in") {
    std::thread([] {
        TraceMemory trace;
        trace::addToEachEvent("Role", "client");
        trace::addToEachEvent("Zone", "a");
        trace::addToEachEvent("Role", "server");
        TraceEvent("First").trackLatest("f").detail("A", 1);
        TraceEvent("Second").detail("Zone", 2).log();
        REQUIRE(trace.lines().size() == 2);
        CHECK(plainEvent(trace.lines()[0]) == R"({"Severity":10,"Type":"First","A":1,"Role":"server","Zone":"a"})");
        CHECK(plainEvent(trace.lines()[1]) ==
              R"({"Severity":10,"Type":"Second","Zone":2,"Role":"server","Zone_":"a"})");
        CHECK(trace::latestEvent("f") == trace.lines()[0]);
    }).join();
    TraceMemory trace;
    TraceEvent("Elsewhere");
    CHECK(plainEvent(trace.lines()[0]) == R"({"Severity":10,"Type":"Elsewhere"})");
}

TEST_CASE("event: log writes at once, and only once") {
    TraceMemory trace;
    TraceEvent event("Now");
    event.detail("A", 1).log();
    CHECK(trace.lines().size() == 1);
    event.detail("B", 2);
    event.log();
    CHECK(trace.lines().size() == 1);
}

TEST_CASE("event: one that is moved is written once, and one that is replaced before") {
    TraceMemory trace;
    {
        TraceEvent first("First");
        TraceEvent moved(std::move(first));
        TraceEvent second("Second");
        moved.detail("A", 1);
        moved = std::move(second);
        CHECK(trace.lines().size() == 1);
        moved.detail("B", 2);
    }
    REQUIRE(trace.lines().size() == 2);
    CHECK(plainEvent(trace.lines()[0]) == R"({"Severity":10,"Type":"First","A":1})");
    CHECK(plainEvent(trace.lines()[1]) == R"({"Severity":10,"Type":"Second","B":2})");
}

TEST_CASE("event: each key is there once") {
    TraceMemory trace;
    TraceEvent("Key").detail("Type", 2).detail("Time", 9).detail("Severity", 3).detail("", 4);
    TraceEvent("Again").detail("A", 1).detail("A", 2).detail("A", 3).detail("A_", 4).detail("B", 5);
    TraceEvent("Own", UID(1, 2)).detail("ID", 7).detail("Error", 8).error(io_error());
    TraceEvent("Bytes").detail("\xff", 1).detail("\xfe", 2).detail("q\"", 3).detail("q\"", 4);
    TraceEvent("Values").detail("A", ",\"B\":").detail("B", 1).detail("NotThere", "Time");
    REQUIRE(trace.lines().size() == 5);
    CHECK(plainEvent(trace.lines()[0]) == R"({"Severity":10,"Type":"Key","Type_":2,"Time_":9,"Severity_":3,"_":4})");
    CHECK(plainEvent(trace.lines()[1]) == R"({"Severity":10,"Type":"Again","A":1,"A_":2,"A__":3,"A___":4,"B":5})");
    CHECK(trace.lines()[2].find(R"("ID_":7,"Error":8,"Error_":"io_error",)") != std::string::npos);
    CHECK(plainEvent(trace.lines()[3]) == R"({"Severity":10,"Type":"Bytes","\ufffd":1,"\ufffd_":2,"q\"":3,"q\"_":4})");
    CHECK(plainEvent(trace.lines()[4]) == R"({"Severity":10,"Type":"Values","A":",\"B\":","B":1,"NotThere":"Time"})");
    trace.clear();
    SimLoop loop;
    TraceEvent("Timed").detail("Time", 9).detail("Type", 2);
    CHECK(plainEvent(trace.lines().back()) == R"({"Time":0,"Severity":10,"Type":"Timed","Time_":9,"Type_":2})");
}

TEST_CASE("event: texts and events that are too long are cut") {
    TraceMemory trace;
    TraceEvent("Cut")
        .detail("A", "12345")
        .setMaxFieldLength(4)
        .detail("B", "1234")
        .detail("C", "12345")
        .detail("D", 12345);
    CHECK(plainEvent(trace.lines()[0]) ==
          R"({"Severity":10,"Type":"Cut","A":"12345","B":"1234","C":"1234...","D":12345})");
    std::string long_(1000, 'x');
    TraceEvent("Long").setMaxEventLength(500).detail("A", long_);
    TraceEvent("Any").setMaxEventLength(-1).setMaxFieldLength(-1).detail("A", long_);
    TraceEvent("Short").setMaxEventLength(500).detail("A", 1);
    REQUIRE(trace.lines().size() == 4);
    CHECK(plainEvent(trace.lines()[1])
              .starts_with(R"({"Severity":30,"Type":"TraceEventOverflow","TraceFirstBytes":"{\"DateTime\":)"));
    CHECK(trace.lines()[1].size() < 500);
    CHECK(trace.lines()[2].size() > 1000);
    CHECK(plainEvent(trace.lines()[3]) == R"({"Severity":10,"Type":"Short","A":1})");
}

TEST_CASE("event: the latest of each key is found again") {
    TraceMemory trace;
    CHECK(flow::trace::latestEvent("Metrics").empty());
    TraceEvent("Metrics").detail("A", 1).trackLatest("Metrics");
    TraceEvent("Metrics").detail("A", 2).trackLatest("Metrics");
    TraceEvent("Other").trackLatest("Other");
    TraceEvent("Metrics").detail("A", 3);
    CHECK(plainEvent(flow::trace::latestEvent("Metrics")) == R"({"Severity":10,"Type":"Metrics","A":2})");
    CHECK(trace.lines()[1] == flow::trace::latestEvent("Metrics"));
    CHECK(flow::trace::latestEvent("None").empty());
}

TEST_CASE("event: the two events of an interval have one number") {
    TraceMemory trace;
    TraceInterval work("Work");
    TraceEvent(work.begin(), UID(1, 2)).detail("A", 1);
    TraceEvent(SevWarn, work.end());
    std::string pair = "Pair\":\"" + work.pairID.toString() + "\"";
    REQUIRE(trace.lines().size() == 2);
    CHECK(plainEvent(trace.lines()[0]) ==
          R"({"Severity":10,"Type":"Work","ID":"00000000000000010000000000000002","Begin)" + pair + R"(,"A":1})");
    CHECK(plainEvent(trace.lines()[1]) == R"({"Severity":20,"Type":"Work","End)" + pair + "}");
    std::string first = work.pairID.toString();
    CHECK(work.begin().pairID.toString() != first);
}
