#include "flow/loop/real_loop.h"

#include "flow/coro/coroutine.h"
#include "flow/sim/sim_loop.h"
#include "tests/flow/support/death.h"

#include <doctest/doctest.h>

#include <cmath>
#include <ctime>
#include <limits>
#include <sys/resource.h>
#include <vector>

using namespace flow;

namespace {

Future<Void> onTime(double seconds, double& lateness) {
    double start = now();
    co_await delay(seconds);
    lateness = timer() - start - seconds;
    CHECK(now() >= start + seconds);
}

Future<Void> yieldUntil(bool const& over) {
    while (!over)
        co_await yield();
}

} // namespace

TEST_CASE("real loop: a timer is never early") {
    RealLoop loop;
    double lateness[20];
    std::vector<Future<Void>> all;
    for (int i = 0; i < 20; ++i)
        all.push_back(onTime(0.0001 * i * i + 1e-9, lateness[i]));
    loop.run();
    for (int i = 0; i < 20; ++i) {
        CHECK(all[i].isReady());
        CHECK(lateness[i] >= 0);
        CHECK(lateness[i] < 5.0);
    }
}

TEST_CASE("real loop: now stands still in a turn, timer does not") {
    RealLoop loop;
    auto task = []() -> Future<Void> {
        co_await delay(0);
        double start = now();
        while (timer() < start + 0.002) {
        }
        CHECK(now() == start);
        co_await delay(0.001);
        CHECK(now() > start);
    };
    loop.run(task());
}

TEST_CASE("real loop: a task that yields gives way to timers and to others") {
    RealLoop loop;
    bool over = false;
    Future<Void> work = yieldUntil(over);
    Future<Void> alarm = delay(0.005);
    Future<Void> soon = delay(0, TaskPriority::DefaultYield);
    double start = loop.timer();
    loop.run(soon);
    loop.run(alarm);
    CHECK(loop.timer() - start < 5.0);
    CHECK_FALSE(work.isReady());
    over = true;
    loop.run(work);
}

TEST_CASE("real loop: timers fire although tasks are always ready") {
    RealLoop loop;
    auto forEver = []() -> Future<Void> {
        for (;;)
            co_await delay(0);
    };
    Future<Void> busy = forEver();
    loop.run(delay(0.003));
    CHECK_FALSE(busy.isReady());
}

TEST_CASE("real loop: nothing but delays without end is nothing to do") {
    RealLoop loop;
    Future<Void> endless = delay(std::numeric_limits<double>::infinity());
    Future<Void> odd = delayUntil(std::numeric_limits<double>::quiet_NaN());
    Future<Void> huge = delay(1e300);
    huge = Future<Void>();
    loop.run();
    CHECK_FALSE(endless.isReady());
    CHECK(odd.isReady());
}

TEST_CASE("real loop: time before the first turn is that of its making") {
    RealLoop loop;
    CHECK(loop.now() > 0);
    double now = loop.now();
    CHECK(loop.timer() >= now);
    CHECK(loop.timer() - loop.now() < 5.0);
}

TEST_CASE("real loop: a delay that is made outside run() counts from there, not from the last turn") {
    RealLoop loop;
    loop.run(delay(0));
    double before = loop.timer();
    while (loop.timer() < before + 0.002) { // time passes while the loop does not run
    }
    double made = loop.timer();
    loop.run(delay(0.001));
    CHECK(loop.timer() >= made + 0.001);
}

TEST_CASE("real loop: where it has no file descriptor to sleep at, run() throws and can be called again") {
    RealLoop().run(delay(0.001)); // UBSan opens a pipe when it sees an object's class for the first time
    RealLoop loop;
    Future<Void> soon = delay(0.01);
    rlimit before, none;
    ::getrlimit(RLIMIT_NOFILE, &before);
    none = {0, before.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &none);
    Error error; // CHECK_THROWS looks at classes, too
    try {
        loop.run(soon);
    } catch (Error& thrown) {
        error = thrown;
    }
    ::setrlimit(RLIMIT_NOFILE, &before);
    CHECK(error == platform_error());
    CHECK_FALSE(soon.isReady());
    loop.run(soon);
    CHECK(soon.isReady());
}

TEST_CASE("real loop: an uncaught error of run() is named") {
    // volatile: where gcc sees what is thrown inside noexcept, it calls std::terminate instead of throwing.
    static void (*volatile fail)() = [] {
        RealLoop real;
        real.run(Future<Void>(timed_out()));
    };
    test::Death death = test::runInChild([]() noexcept { fail(); });
    CHECK(death.aborted());
    INFO(death.text);
    CHECK(death.says("flow: uncaught error timed_out (1004): the operation took too long"));
}

TEST_CASE("real loop: now() counts from the first loop, on the machine's clock; wallTime() is the date") {
    RealLoop loop;
    double start = machineTime() - loop.timer();
    {
        RealLoop other;
        CHECK(machineTime() - other.timer() == doctest::Approx(start).epsilon(0.1));
        CHECK(other.now() >= 0);
    }
    CHECK(std::abs(wallTime() - static_cast<double>(std::time(nullptr))) < 60);
    SimLoop sim;
    CHECK(wallTime() == 1577836800);
    sim.run(delay(1.5));
    CHECK(wallTime() == 1577836801.5);
}
