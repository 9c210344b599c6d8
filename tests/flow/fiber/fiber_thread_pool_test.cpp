#include "flow/fiber/fiber_thread_pool.h"

#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/sim/sim_loop.h"
#include "flow/wait/delay.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <memory>
#include <ostream> // lets doctest print strings
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace flow;

namespace {

template <class MyLoop>
void checkResults() {
    MyLoop loop;
    FiberThreadPool pool(loop, {.threads = 3});
    CHECK(pool.hasFibers() == loop.isSimulated());
    CHECK(loop.run(pool.run([] { return 4; })) == 4);
    CHECK(loop.run(pool.run([number = std::make_unique<int>(5)] { return std::to_string(*number); })) == "5");
    bool ran = false;
    loop.run(pool.run([&] { ran = true; }));
    CHECK(ran);
    Future<int> fails = pool.run([]() -> int { throw io_error(); });
    CHECK_THROWS_AS(loop.run(fails), Error);
    CHECK(fails.getError().code() == error_code_io_error);
    Future<Void> foreign = pool.run([] { throw std::runtime_error("x"); });
    CHECK_THROWS_AS(loop.run(foreign), std::runtime_error);
    CHECK(foreign.getError().code() == error_code_unknown_error);
    std::vector<Future<int>> all;
    for (int i = 0; i < 30; ++i)
        all.push_back(pool.run([i] {
            FiberThreadPool::pause(0.001);
            return i;
        }));
    for (int i = 0; i < 30; ++i)
        CHECK(loop.run(all[static_cast<std::size_t>(i)]) == i);
}

} // namespace

TEST_CASE("fiber thread pool: gives results and errors, on fibers") {
    checkResults<SimLoop>();
}

TEST_CASE("fiber thread pool: gives results and errors, on threads") {
    checkResults<RealLoop>();
}

TEST_CASE("fiber thread pool: fibers switch where they pause, no more than allowed at a time, always alike") {
    auto run = [] {
        SimLoop loop;
        std::string log;
        int running = 0;
        int most = 0;
        FiberThreadPool pool(loop, {.threads = 2});
        auto act = [&](char name) {
            most = std::max(most, ++running);
            log += name;
            FiberThreadPool::pause(name == 'a' ? 2.5 : 1);
            log += static_cast<char>(name - 'a' + 'A');
            --running;
        };
        std::vector<Future<Void>> all;
        for (char name : {'a', 'b', 'c', 'd'})
            all.push_back(pool.run([&, name] { act(name); }));
        CHECK(log.empty()); // an action begins in a task of its own
        for (Future<Void>& each : all)
            loop.run(each);
        CHECK(most == 2);
        CHECK(loop.now() == 3);
        return log;
    };
    CHECK(run() == "abBcCdAD");
    CHECK(run() == "abBcCdAD");
}

TEST_CASE("fiber thread pool: what is dropped before it begins never runs, and what has begun ends") {
    SimLoop loop;
    FiberThreadPool pool(loop, {.threads = 1});
    std::string log;
    Future<Void> first = pool.run([&] {
        FiberThreadPool::pause(1);
        log += 'a';
    });
    Future<Void> second = pool.run([&] { log += 'b'; });
    Future<Void> third = pool.run([&] { log += 'c'; });
    loop.run(delay(0.5));
    first = {};
    second = {};
    loop.run(third);
    CHECK(log == "ac");
}

TEST_CASE("fiber thread pool: its end unwinds what is under way") {
    SimLoop loop;
    std::string log;
    Future<Void> underWay;
    Future<Void> waits;
    {
        FiberThreadPool pool(loop, {.threads = 1});
        underWay = pool.run([&] {
            try {
                FiberThreadPool::pause(1);
            } catch (Error& error) {
                log += error.name();
                throw;
            }
        });
        waits = pool.run([&] { log += 'b'; });
        loop.run(delay(0.5));
    }
    CHECK(log == actor_cancelled().name());
    CHECK(underWay.getError().code() == error_code_actor_cancelled);
    CHECK(waits.getError().code() == error_code_broken_promise);
}

TEST_CASE("fiber thread pool: threads run beside the loop") {
    RealLoop loop;
    FiberThreadPool pool(loop, {.threads = 2});
    auto mine = std::this_thread::get_id();
    CHECK(loop.run(pool.run([mine] { return std::this_thread::get_id() != mine; })));
}

TEST_CASE("fiber thread pool: code that resumes at its end may call it again, and gets broken_promise") {
    SimLoop loop;
    auto pool = std::make_unique<FiberThreadPool>(loop, FiberThreadPoolOptions{.threads = 2});
    int cancelled = 0;
    int broken = 0;
    auto askAgain = [&, address = pool.get()]() -> Future<Void> {
        for (int i = 0; i < 5; ++i) {
            ErrorOr<Void> result = co_await tryGet(address->run([] { FiberThreadPool::pause(1); }));
            cancelled += result.isError() && result.getError().code() == error_code_actor_cancelled;
            broken += result.isError() && result.getError().code() == error_code_broken_promise;
        }
    };
    std::vector<Future<Void>> all;
    for (int i = 0; i < 4; ++i)
        all.push_back(askAgain());
    loop.run(delay(0.5)); // two pause, two wait
    pool.reset();
    CHECK(cancelled == 2);
    CHECK(broken == 4 * 5 - 2);
    for (Future<Void>& each : all)
        CHECK(each.isReady());
}

TEST_CASE("fiber thread pool: what waits for an action may destroy the pool") {
    auto check = [](auto& loop) {
        auto useOnce = [&loop]() -> Future<int> {
            FiberThreadPool pool(loop, {.threads = 1});
            Future<int> second = pool.run([] { return 2; });
            int first = co_await pool.run([] { return 1; });
            co_return first + co_await second;
        };
        CHECK(loop.run(useOnce()) == 3);
    };
    {
        SimLoop loop;
        check(loop);
    }
    RealLoop loop;
    check(loop);
}
