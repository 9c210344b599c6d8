#include "flow/threads/loop_pool.h"

#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/threads/on_loop.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/death.h"

#include <doctest/doctest.h>

#include <set>
#include <thread>

using namespace flow;

TEST_CASE("loop pool: each loop has its own thread, and next() takes them in turn") {
    RealLoop home;
    LoopPool pool(3);
    CHECK(pool.size() == 3);
    std::set<std::thread::id> threads;
    for (int i = 0; i < 3; ++i)
        threads.insert(home.run(onLoop(pool[i], [] { return std::this_thread::get_id(); })));
    CHECK(threads.size() == 3);
    CHECK(threads.count(std::this_thread::get_id()) == 0);
    std::set<Loop*> loops;
    for (int i = 0; i < 3; ++i)
        loops.insert(&pool.next());
    CHECK(loops.size() == 3);
}

TEST_CASE("loop pool: actors run there, and what has not ended when the pool ends is broken") {
    RealLoop home;
    Future<int> answer, never;
    {
        LoopPool pool(2);
        auto work = []() -> Future<int> {
            co_await delay(0.001);
            co_return 7;
        };
        answer = onLoop(pool[0], work);
        CHECK(home.run(answer) == 7);
        never = onLoop(pool[1], []() -> Future<int> { return Never(); });
        home.run(onLoop(pool[1], [] {}));
    }
    CHECK_THROWS_AS(home.run(never), Error);
    CHECK(never.getError() == broken_promise());
}

TEST_CASE("loop pool: many are made and destroyed, with and without work") {
    for (int i = 0; i < 50; ++i) {
        LoopPool pool(1 + i % 4);
        for (int calls = 0; calls < i; ++calls)
            pool.next().post([] {});
    }
}

TEST_CASE("loop pool: the loops may call each other until all have stopped") {
    RealLoop home;
    for (int i = 0; i < 20; ++i) {
        LoopPool pool(3);
        auto callOthers = [](LoopPool* loops) -> Future<Void> {
            while (true)
                co_await onLoop(loops->next(), [] {});
        };
        for (int loop = 0; loop < 3; ++loop)
            (void)onLoop(pool[loop], [&pool, callOthers] { return callOthers(&pool); });
        home.run(onLoop(pool[i % 3], [] {}));
    }
}

TEST_CASE("loop pool: no loop at all names the caller") {
    CHECK_NAMES_CALLER(LoopPool none(0));
    CHECK_NAMES_CALLER(LoopPool none(-1));
}
