#include "flow/sim/sim_loop.h"

#include "flow/coro/coroutine.h"
#include "tests/flow/support/trace_log.h"

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <limits>

using namespace flow;
using flow::test::TraceLog;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Future<Void> tick(TraceLog& log, std::string name, double period, int times) {
    for (int i = 0; i < times; ++i) {
        co_await delay(period);
        log.say(name + std::to_string(static_cast<int>(now())));
    }
}

Future<Void> busy(int passes, double& startedAt) {
    startedAt = now();
    for (int i = 0; i < passes; ++i) {
        co_await delay(0);
        CHECK(now() == startedAt);
    }
}

bool drains(SimLoop& loop, Future<Void> future) {
    try {
        loop.run(std::move(future));
    } catch (Error& error) {
        return error == loop_drained();
    }
    return false;
}

} // namespace

TEST_CASE("sim loop: time starts at 0 and goes straight to the next deadline") {
    SimLoop loop;
    CHECK(loop.now() == 0);
    auto before = std::chrono::steady_clock::now();
    loop.run(delay(3600.0 * 24 * 365));
    CHECK(loop.now() == 3600.0 * 24 * 365);
    CHECK(loop.timer() == loop.now());
    CHECK(std::chrono::steady_clock::now() - before < std::chrono::seconds(5));
}

TEST_CASE("sim loop: time moves only when nothing is ready") {
    SimLoop loop;
    double startedAt = -1;
    Future<Void> work = busy(1000, startedAt);
    Future<Void> alarm = delay(1e-9);
    loop.run(work);
    CHECK(startedAt == 0);
    CHECK(loop.now() == 0);
    CHECK_FALSE(alarm.isReady());
    loop.run(alarm);
    CHECK(loop.now() == 1e-9);
}

TEST_CASE("sim loop: the same program runs in the same order") {
    std::string first;
    for (int round = 0; round < 2; ++round) {
        SimLoop loop;
        TraceLog log;
        Future<Void> a = tick(log, "a", 2, 3);
        Future<Void> b = tick(log, "b", 3, 2);
        loop.run();
        std::string said = log.take();
        // At 6 both fire: b set its timer at 3, a at 4.
        CHECK(said == "a2 b3 a4 b6 a6");
        CHECK((round == 0 || said == first));
        first = said;
    }
}

TEST_CASE("sim loop: a delay without end is never over, and time stays finite") {
    SimLoop loop;
    CHECK(drains(loop, delay(kInfinity)));
    CHECK(std::isfinite(loop.now()));
    Future<Void> endless = delay(kInfinity);
    Future<Void> other = delayUntil(kInfinity);
    loop.run(delay(2));
    CHECK(loop.now() == 2);
    CHECK_FALSE(endless.isReady());
    loop.run();
    CHECK(loop.now() == 2);
    CHECK_FALSE(endless.isReady());
    CHECK_FALSE(other.isReady());
    loop.run(delay(1));
    CHECK(loop.now() == 3);
}

TEST_CASE("sim loop: delays of NaN, below zero and of the past are delay(0)") {
    SimLoop loop;
    loop.run(delay(10));
    for (double seconds : {kNan, -1.0, -kInfinity, 0.0, -0.0}) {
        loop.run(delay(seconds));
        CHECK(loop.now() == 10);
    }
    for (double time : {kNan, -1.0, -kInfinity, 3.0, 10.0}) {
        Future<Void> before = delay(1); // must not be stuck behind a deadline that has no order
        Future<Void> odd = delayUntil(time);
        Future<Void> after = delay(0.5);
        CHECK_FALSE(drains(loop, odd));
        CHECK(loop.now() < 20);
        double now = loop.now();
        loop.run(after);
        CHECK(loop.now() == now + 0.5);
        loop.run(before);
        CHECK(loop.now() == now + 1);
    }
    loop.run(delayUntil(20));
    CHECK(loop.now() == 20);
}

TEST_CASE("sim loop: a slice is a number of yields") {
    SimLoop loop;
    TraceLog log;
    auto yields = [](TraceLog& said) -> Future<Void> {
        co_await delay(0);
        for (int i = 0; i < 100; ++i)
            co_await yield(TaskPriority::DefaultDelay);
        said.say("yielder");
    };
    auto other = [](TraceLog& said) -> Future<Void> {
        co_await delay(0);
        said.say("other");
    };
    Future<Void> a = yields(log);
    Future<Void> b = other(log);
    loop.run();
    CHECK(log.take() == "other yielder");
}
