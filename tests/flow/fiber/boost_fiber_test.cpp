#include "flow/fiber/boost_fiber.h"

#include "flow/coro/coroutine.h"
#include "flow/fiber/fiber.h"
#include "flow/loop/real_loop.h"
#include "flow/sim/sim_loop.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/death.h"

#include <boost/fiber/all.hpp>
#include <chrono>
#include <cmath>
#include <doctest/doctest.h>
#include <exception>
#include <mutex>
#include <ostream> // lets doctest print strings
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace flow;
using namespace std::chrono_literals;
namespace fibers = boost::fibers;
namespace self = boost::this_fiber;

namespace {

using Log = std::vector<std::string>;
using Steady = std::chrono::steady_clock;

/// A simulated loop on which Boost's fibers run.
struct Simulated {
    Simulated() { fiber::useBoostFibers(); }
    SimLoop loop;
};

std::string at(std::string const& what) {
    return what + " " + std::to_string(std::llround(now() * 1000));
}

} // namespace

TEST_CASE("boost fiber: producers and a consumer over a buffered channel, with sleeps in virtual time") {
    auto run = [] {
        Simulated simulated;
        Log log;
        fibers::buffered_channel<int> channel(4);
        auto produce = [&](int first, std::chrono::milliseconds pause) {
            for (int i = 0; i < 3; ++i) {
                self::sleep_for(pause);
                channel.push(first + i);
            }
        };
        fibers::fiber slow(produce, 100, 30ms);
        fibers::fiber fast(produce, 200, 20ms);
        fibers::fiber consumer([&] {
            for (int number : channel)
                log.push_back(at(std::to_string(number)));
        });
        slow.join();
        fast.join();
        channel.close();
        consumer.join();
        return log;
    };
    CHECK(run() == Log{"200 20", "100 30", "201 40", "101 60", "202 60", "102 90"});
}

TEST_CASE("boost fiber: an unbuffered channel hands over one by one, and blocks the sender") {
    Simulated simulated;
    Log log;
    fibers::unbuffered_channel<int> channel;
    fibers::fiber sender([&] {
        for (int i = 1; i <= 3; ++i) {
            channel.push(i);
            log.push_back(at("sent"));
        }
        channel.close();
    });
    fibers::fiber receiver([&] {
        int number;
        while (self::sleep_for(10ms), channel.pop(number) == fibers::channel_op_status::success)
            log.push_back(at("received"));
    });
    sender.join();
    receiver.join();
    CHECK(log == Log{"received 10", "sent 10", "received 20", "sent 20", "received 30", "sent 30"});
}

TEST_CASE("boost fiber: two fibers take turns by a mutex and a condition variable") {
    Simulated simulated;
    std::string text;
    fibers::mutex mutex;
    fibers::condition_variable changed;
    bool isPing = true;
    auto play = [&](bool mine, char letter) {
        for (int i = 0; i < 4; ++i) {
            std::unique_lock<fibers::mutex> lock(mutex);
            changed.wait(lock, [&] { return isPing == mine; });
            text += letter;
            isPing = !mine;
            changed.notify_one();
        }
    };
    fibers::fiber ping([&] { play(true, 'i'); });
    fibers::fiber pong([&] { play(false, 'o'); });
    ping.join();
    pong.join();
    CHECK(text == "ioioioio");
}

TEST_CASE("boost fiber: futures, packaged tasks, async, and exceptions through them") {
    Simulated simulated;
    fibers::packaged_task<int(int)> square([](int x) {
        self::sleep_for(1s);
        return x * x;
    });
    fibers::future<int> result = square.get_future();
    fibers::fiber(std::move(square), 7).detach();
    CHECK(result.get() == 49);
    CHECK(now() == 1);
    fibers::future<int> throws = fibers::async([]() -> int { throw std::runtime_error("no"); });
    CHECK_THROWS_AS((void)throws.get(), std::runtime_error);
    fibers::promise<std::string> promise;
    fibers::shared_future<std::string> shared = promise.get_future().share();
    int readers = 0;
    std::vector<fibers::fiber> all;
    for (int i = 0; i < 3; ++i)
        all.emplace_back([&] { readers += shared.get() == "text"; });
    promise.set_value("text");
    for (fibers::fiber& each : all)
        each.join();
    CHECK(readers == 3);
    fibers::future<int> broken = fibers::promise<int>().get_future();
    CHECK_THROWS_AS((void)broken.get(), fibers::broken_promise);
}

TEST_CASE("boost fiber: a barrier releases all when the last has arrived") {
    Simulated simulated;
    Log log;
    fibers::barrier barrier(3);
    std::vector<fibers::fiber> all;
    for (int i = 0; i < 3; ++i)
        all.emplace_back([&, i] {
            for (int round = 0; round < 2; ++round) {
                self::sleep_for(std::chrono::milliseconds(10 * (i + 1)));
                barrier.wait();
                log.push_back(at(std::to_string(i)));
            }
        });
    for (fibers::fiber& each : all)
        each.join();
    REQUIRE(log.size() == 6);
    for (std::size_t i = 0; i < 6; ++i)
        CHECK(log[i].substr(2) == (i < 3 ? "30" : "60"));
}

TEST_CASE("boost fiber: workers of one thread share jobs, in an order that is always the same") {
    auto run = [] {
        Simulated simulated;
        Log log;
        fibers::buffered_channel<int> jobs(16);
        std::vector<fibers::fiber> workers;
        for (int w = 0; w < 3; ++w)
            workers.emplace_back([&, w] {
                for (int job : jobs) {
                    log.push_back(std::to_string(w) + ":" + std::to_string(job));
                    self::sleep_for(std::chrono::milliseconds(job % 4 + 1));
                }
            });
        for (int job = 0; job < 12; ++job)
            jobs.push(job);
        jobs.close();
        for (fibers::fiber& worker : workers)
            worker.join();
        CHECK(now() > 0.006);
        return log;
    };
    Log first = run();
    CHECK(first.size() == 12);
    CHECK(run() == first);
}

TEST_CASE("boost fiber: waits with timeouts end at their time, or earlier") {
    Simulated simulated;
    fibers::mutex mutex;
    fibers::condition_variable never;
    std::unique_lock<fibers::mutex> lock(mutex);
    CHECK(never.wait_for(lock, 250ms) == fibers::cv_status::timeout);
    CHECK(now() == 0.25);
    lock.unlock();
    fibers::promise<int> promise;
    fibers::future<int> future = promise.get_future();
    CHECK(future.wait_for(1h) == fibers::future_status::timeout);
    CHECK(now() == 3600.25);
    fibers::fiber later([&] {
        self::sleep_for(1s);
        promise.set_value(3);
    });
    CHECK(future.wait_for(1h) == fibers::future_status::ready);
    CHECK(now() == 3601.25);
    later.join();
    fibers::timed_mutex timed;
    fibers::fiber holder([&] {
        std::unique_lock<fibers::timed_mutex> held(timed);
        self::sleep_for(2s);
    });
    self::yield();
    CHECK(!timed.try_lock_for(500ms));
    CHECK(timed.try_lock_for(5s));
    CHECK(now() == 3603.25);
    timed.unlock();
    holder.join();
    fibers::buffered_channel<int> channel(2);
    int number;
    CHECK(channel.pop_wait_for(number, 1ms) == fibers::channel_op_status::timeout);
    Steady::time_point start = Steady::now();
    self::sleep_until(start + 123456789ns);
    CHECK(Steady::now() - start == 123456789ns);
    simulated.loop.run(); // a timeout that did not happen leaves no timer
    CHECK(Steady::now() - start == 123456789ns);
}

TEST_CASE("boost fiber: coroutines and flow's fibers wait for Boost fibers, and the other way round") {
    Simulated simulated;
    Log log;
    auto slowly = [](int number) -> Future<int> {
        co_await delay(1.0);
        co_return number;
    };
    Future<int> sum = fiber::spawnBoost([&] {
        int first = fiber::boostWait(slowly(3));
        self::sleep_for(500ms);
        log.push_back(at("boost"));
        return first + fiber::boostWait(fiber::spawn([&] { return fiber::wait(slowly(4)); }));
    });
    auto others = [&]() -> Future<Void> {
        for (int i = 0; i < 3; ++i) {
            co_await delay(1.0);
            log.push_back(at("coroutine"));
        }
    };
    Future<Void> beside = others();
    auto twice = [](Future<int> future) -> Future<int> { co_return 2 * co_await future; };
    CHECK(simulated.loop.run(twice(sum)) == 14);
    CHECK(now() == 2.5);
    simulated.loop.run(beside);
    CHECK(log == Log{"coroutine 1000", "boost 1500", "coroutine 2000", "coroutine 3000"});
    Future<Void> fails = fiber::spawnBoost([] { fiber::boostWait(Future<Void>(io_error())); });
    simulated.loop.run();
    CHECK(fails.getError().code() == error_code_io_error);
}

TEST_CASE("boost fiber: main may yield, and launch at once") {
    Simulated simulated;
    Log log;
    bool done = false;
    fibers::fiber first(fibers::launch::dispatch, [&] {
        log.push_back("at once");
        self::yield();
        fibers::fiber(fibers::launch::dispatch, [&] { log.push_back("inner"); }).join();
        done = true;
    });
    log.push_back("main");
    while (!done)
        self::yield();
    first.join();
    CHECK(log == Log{"at once", "main", "inner"});
    // The same within a task of the loop.
    auto task = [&]() -> Future<Void> {
        co_await delay(1);
        fibers::fiber(fibers::launch::dispatch, [&] { self::sleep_for(1s), log.push_back(at("task's")); }).detach();
        log.push_back(at("task"));
        co_await delay(2);
    };
    simulated.loop.run(task());
    CHECK(log.size() == 5);
    CHECK(log[3] == "task 1000");
    CHECK(log[4] == "task's 2000");
}

TEST_CASE("boost fiber: an exception in flight stays with its stack") {
    Simulated simulated;
    Log log;
    auto body = [&log](std::string name, std::chrono::milliseconds pause) {
        try {
            throw name;
        } catch (std::string&) {
            for (int i = 0; i < 2; ++i) {
                self::sleep_for(pause);
                fibers::fiber(fibers::launch::dispatch, [] { CHECK(!std::current_exception()); }).join();
                try {
                    throw;
                } catch (std::string& again) {
                    log.push_back(again);
                }
            }
        }
    };
    fibers::fiber a(body, "a", 10ms);
    fibers::fiber b(body, "b", 15ms);
    a.join();
    CHECK(!std::current_exception());
    b.join();
    CHECK(log == Log{"a", "b", "a", "b"});
}

TEST_CASE("boost fiber: many fibers, each of which wakes the next") {
    Simulated simulated;
    constexpr std::size_t kFibers = 2000;
    std::vector<fibers::promise<int>> promises(kFibers + 1);
    for (std::size_t i = 0; i < kFibers; ++i)
        fibers::fiber([&promises, i] { promises[i + 1].set_value(promises[i].get_future().get() + 1); }).detach();
    promises[0].set_value(0);
    CHECK(promises[kFibers].get_future().get() == kFibers);
}

TEST_CASE("boost fiber: on the machine's clock, and woken by another thread") {
    fiber::useBoostFibers();
    RealLoop loop;
    Steady::time_point start = Steady::now();
    fibers::fiber([] { self::sleep_for(5ms); }).join();
    CHECK(Steady::now() - start >= 5ms);
    fibers::promise<int> promise;
    fibers::future<int> future = promise.get_future();
    std::thread thread([&] {
        std::this_thread::sleep_for(5ms);
        promise.set_value(8);
    });
    CHECK(future.get() == 8);
    thread.join();
    fibers::promise<int> second;
    thread = std::thread([&] {
        std::this_thread::sleep_for(5ms);
        second.set_value(9);
    });
    WorkGuard guard(loop);
    CHECK(loop.run(fiber::spawnBoost([&] { return second.get_future().get(); })) == 9);
    thread.join();
}

TEST_CASE("boost fiber: threads with loops of their own begin and end") {
    for (int round = 0; round < 3; ++round) {
        int sum = 0;
        std::thread thread([&] {
            fiber::useBoostFibers();
            for (int i = 0; i < 2; ++i) {
                SimLoop loop;
                fibers::fiber fiber([&] { self::sleep_for(1h), ++sum; });
                fiber.join();
                CHECK(loop.now() == 3600);
            }
        });
        thread.join();
        CHECK(sum == 2);
    }
}

TEST_CASE("boost fiber: the clock is virtual where the loop is, and nowhere else") {
    Steady::time_point real = Steady::now();
    CHECK(real.time_since_epoch() > 0s);
    {
        SimLoop loop;
        CHECK(Steady::now().time_since_epoch() == 0ns);
        loop.run(delay(12.5));
        CHECK(Steady::now().time_since_epoch() == 12500ms);
        Steady::time_point other;
        std::thread([&] { other = Steady::now(); }).join();
        CHECK(other >= real);
    }
    CHECK(Steady::now() >= real);
}

TEST_CASE("boost fiber: a wait that nothing can end is an assertion") {
    CHECK_DIES(
        [] {
            Simulated simulated;
            fibers::promise<int> promise;
            (void)promise.get_future().get();
        }(),
        "nothing is left that could wake it");
    CHECK_DIES(std::thread([] {
                   fiber::useBoostFibers();
                   fibers::promise<int> promise;
                   (void)promise.get_future().get();
               }).join(),
               "on a thread that has no loop");
}
