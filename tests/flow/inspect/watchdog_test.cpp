#include "flow/inspect/watchdog.h"

#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/sim/sim_loop.h"
#include "flow/trace/sink.h"
#include "flow/wait/delay.h"
#include "flow/wait/signals.h"
#include "tests/flow/support/death.h"

#include <doctest/doctest.h>

#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <string>
#include <unistd.h>
#include <utility>

using namespace flow;

namespace watchdog_test {
namespace {

/// Keeps its loop busy, without an end in the time of a test.
Future<Void> endlessActor(bool isTerminated) {
    co_await delay(0);
    if (isTerminated)
        std::raise(SIGTERM);
    while (std::clock() < 60 * CLOCKS_PER_SEC) {
    }
}

constexpr char kMark[] = "flow: Watchdog: the loop watched has run a step of ";

int reportsIn(std::string const& text) {
    int count = 0;
    for (std::size_t at = text.find(kMark); at != text.npos; at = text.find(kMark, at + 1))
        ++count;
    return count;
}

/// Runs a step that ends when its report has come. Returns 0 if there was one report and one event.
int reportOfOneStep() {
    int ends[2];
    if (::pipe2(ends, O_NONBLOCK) != 0)
        return 1;
    ::dup2(ends[1], STDERR_FILENO);
    std::string text;
    auto readAll = [&] {
        char some[512];
        for (ssize_t size; (size = ::read(ends[0], some, sizeof some)) > 0;)
            text.append(some, static_cast<std::size_t>(size));
    };
    RealLoop loop;
    TraceMemory trace;
    double seconds = 0;
    {
        Watchdog watch({.after = 0.01, .loop = "watched"});
        loop.post([&] {
            double began = machineTime();
            while (reportsIn(text) == 0) {
                ::usleep(1000);
                readAll();
            }
            ::usleep(100'000); // in which the Watchdog looks again
            seconds = machineTime() - began;
        });
        loop.run(delay(0.001));
        while (trace.lines().empty())
            loop.run(delay(0.001));
    }
    readAll();
    auto has = [&](char const* part) { return trace.lines()[0].find(part) != std::string::npos; };
    bool isEvent = trace.lines().size() == 1 && has("\"StepRunsLong\"") && has("\"Loop\":\"watched\"");
    std::size_t at = trace.lines()[0].find("\"Seconds\":");
    if (at == std::string::npos || std::stod(trace.lines()[0].substr(at + 10)) < 0.9 * seconds)
        return 3;
    return reportsIn(text) == 1 && isEvent ? 0 : 2;
}

} // namespace

TEST_CASE("watchdog: reports a step that runs on, once, and as an event when it has ended") {
    CHECK(test::runInChild(reportOfOneStep).status == 0);
}

TEST_CASE("watchdog: ends the process if it is asked to") {
    test::Death death = test::runInChild([] {
        RealLoop loop;
        Watchdog watch({.after = 0.01, .aborts = true, .loop = "watched"});
        loop.run(endlessActor(false));
    });
    INFO(death.text);
    CHECK(death.aborted());
    CHECK(reportsIn(death.text) == 1);
    CHECK(death.says("endlessActor"));
}

TEST_CASE("watchdog: SIGTERM ends a program with a step that does not end") {
    test::Death death = test::runInChild([] {
        RealLoop loop;
        Watchdog watch({.after = 1000, .afterTermination = 0.01, .loop = "watched"});
        Future<int> stop = keep(signals({SIGTERM}));
        loop.run(endlessActor(true));
    });
    INFO(death.text);
    CHECK(death.signal == SIGTERM);
    CHECK(reportsIn(death.text) == 1);
}

TEST_CASE("watchdog: SIGTERM is left to a loop that runs its steps") {
    test::Death death = test::runInChild([] {
        RealLoop loop;
        Watchdog watch({.after = 1000, .afterTermination = 60});
        Future<int> stop = keep(signals({SIGTERM}));
        std::raise(SIGTERM);
        return loop.run(stop) == SIGTERM ? 7 : 1;
    });
    CHECK(death.status == 7);
    CHECK(death.text.empty());
}

TEST_CASE("watchdog: wrong options, and no loop that it can watch") {
    RealLoop loop;
    auto sentenceOf = [](WatchdogOptions options) -> std::string {
        try {
            Watchdog watch(std::move(options));
        } catch (Error const& error) {
            return error.what();
        }
        return "";
    };
    CHECK(sentenceOf({.after = 0.0}) == "WatchdogOptions: after is 0.000000; it must be more than 0 seconds");
    CHECK(sentenceOf({.afterTermination = -1.0}) ==
          "WatchdogOptions: afterTermination is -1.000000; it must be a finite number of seconds, or 0");
    SimLoop simulated;
    CHECK_NAMES_CALLER(Watchdog());
}

} // namespace watchdog_test
