#include "flow/threads/run_blocking.h"

#include "flow/combine/timeout.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/sim/sim_loop.h"

#include <doctest/doctest.h>

#include <latch>
#include <memory>
#include <thread>

using namespace flow;

TEST_CASE("run blocking: the loop runs while a call blocks") {
    RealLoop loop;
    std::latch over{1};
    auto task = [&]() -> Future<int> {
        Future<int> blocked = runBlocking([&] {
            over.wait();
            return 5;
        });
        co_await delay(0.001);
        over.count_down();
        co_return co_await blocked;
    };
    CHECK(loop.run(task()) == 5);
}

TEST_CASE("run blocking: values that can only be moved, nothing, and errors") {
    RealLoop loop;
    CHECK(*loop.run(runBlocking([] { return std::make_unique<int>(3); })) == 3);
    loop.run(runBlocking([] {}));
    CHECK_THROWS_AS(loop.run(runBlocking([]() -> int { throw io_error(); })), Error);
    Future<Void> unknown = runBlocking([] { throw 7; });
    loop.run();
    CHECK(unknown.getError() == unknown_error());
}

TEST_CASE("run blocking: all calls of a loop share one pool") {
    RealLoop loop;
    ThreadPool& pool = ThreadPool::ofLoop();
    CHECK(&pool == &ThreadPool::ofLoop());
    {
        SimLoop inner;
        CHECK(&pool != &ThreadPool::ofLoop());
        CHECK(inner.run(runBlocking([] { return 1; })) == 1);
    }
    CHECK(&pool == &ThreadPool::ofLoop());
}

TEST_CASE("run blocking: a call that takes too long is abandoned") {
    RealLoop loop;
    auto over = std::make_shared<std::latch>(1);
    Future<Void> slow = timeoutError(runBlocking([over] { over->wait(); }), 0.001);
    CHECK_THROWS_AS(loop.run(slow), Error);
    CHECK(slow.getError() == timed_out());
    over->count_down();
}

TEST_CASE("run blocking: in simulation the same program runs in the same order") {
    auto run = [] {
        SimLoop loop;
        std::vector<int> order;
        auto task = [&](int name) -> Future<Void> {
            for (int i = 0; i < 3; ++i) {
                int got = co_await runBlocking([name, i] { return name * 10 + i; });
                order.push_back(got);
                co_await delay(name == 1 ? 0.5 : 0.25);
            }
        };
        Future<Void> first = task(1), second = task(2);
        loop.run();
        return order;
    };
    CHECK(run() == std::vector<int>{10, 20, 21, 11, 22, 12});
    CHECK(run() == run());
}
