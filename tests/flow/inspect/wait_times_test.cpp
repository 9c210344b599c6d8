#include "flow/inspect/wait_times.h"

#include "flow/coro/coroutine.h"
#include "flow/inspect/pending_report.h"
#include "flow/inspect/reports.h"
#include "flow/loop/real_loop.h"
#include "flow/sim/sim_loop.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/death.h"
#include "tests/flow/support/pending_text.h"

#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace flow;
using flow::test::count, flow::test::has, flow::test::pendingText;

namespace {

Future<Void> timedWaits(Future<Void> go) {
    co_await go;
}
Future<Void> timedBeats() {
    for (;;)
        co_await delay(4);
}

} // namespace

TEST_CASE("wait times: reports say how long each has waited, while they exist") {
    SimLoop loop;
    Promise<Void> go;
    Future<Void> early = timedWaits(go.getFuture());
    std::string text;
    {
        WaitTimes times(loop);
        loop.run(delay(10));
        Future<Void> beats = timedBeats();
        loop.run(delay(10));
        Future<Void> late = timedWaits(go.getFuture());
        text = pendingText();
        INFO(text);
        CHECK(count(text, " [for 20.0 s]\n") == 1);
        CHECK(count(text, " [for less than 2.0 s]\n") == 1);
        CHECK(has(text, "a delay until 22 (2 s from now) [for 2.0 s]\n")); // not ten: each beat is another wait
        CHECK(has(pendingText({PendingFormat::Json}), ",\"seconds\":20.0,\"waits\""));
        CHECK(has(pendingText({PendingFormat::Text, 1}),
                  "2 x coroutine timedWaits waits for a promise [for up to 20.0 s]\n"));
    }
    CHECK_FALSE(has(pendingText(), "[for "));
}

TEST_CASE("wait times: a computation that goes on waits anew") {
    SimLoop loop;
    WaitTimes times(loop);
    Promise<Void> first, second;
    auto waits = [](Future<Void> one, Future<Void> two) -> Future<Void> {
        co_await one;
        co_await two;
    };
    Future<Void> done = waits(first.getFuture(), second.getFuture());
    loop.run(delay(5));
    first.send(Void());
    loop.run(delay(7));
    std::string text = pendingText();
    INFO(text);
    CHECK(count(text, " [for 7.0 s]\n") == 1);
}

TEST_CASE("wait times: many computations in little time, and one loop after another") {
    for (int round = 0; round < 2; ++round) {
        SimLoop loop;
        WaitTimes times(loop, 0.5);
        Promise<Void> go;
        std::vector<Future<Void>> all;
        for (int i = 0; i < 5000; ++i)
            all.push_back(timedWaits(go.getFuture()));
        loop.run(delay(2));
        std::string text = pendingText();
        CHECK(count(text, " [for 2.0 s]\n") == 1000);
        CHECK(has(text, "5000 x coroutine timedWaits waits for a promise [for up to 2.0 s]\n"));
    }
}

TEST_CASE("wait times: the environment switches them on, and a loop that sleeps knows them") {
    auto sleeps = [] {
        ::setenv("MILLRACE_WAIT_TIMES", "1", 1);
        RealLoop loop;
        reportOnQuit();
        Future<Void> done = timedWaits(Never());
        std::thread other([] {
            std::this_thread::sleep_for(std::chrono::milliseconds(1200));
            ::kill(::getpid(), SIGQUIT);
        });
        loop.run(delay(1.3));
        other.join();
    };
    test::Death death = test::runInChild(sleeps);
    INFO(death.text);
    CHECK(death.status == 0);
    CHECK(death.says("waits for what is never ready [for 1."));
}
