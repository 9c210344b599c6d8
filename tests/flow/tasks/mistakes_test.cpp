#include "flow/memory/scoped_arena.h"
#include "flow/sim/sim_loop.h"
#include "flow/sync/barrier.h"
#include "flow/tasks/scope.h"
#include "flow/tasks/stop.h"
#include "flow/tasks/task.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/death.h"

#include <doctest/doctest.h>
#include <optional>
#include <stop_token>

// The table of flow/docs/structured_tasks.md.

namespace {
using namespace flow;

Fork<int> one(Context) {
    co_await delay(1);
    co_return 1;
}
Task<int> lazy(Context) {
    co_await delay(1);
    co_return 1;
}

Task<> sleeps(Context) {
    co_await delay(1);
}

template <class F>
test::Death runTask(F body) {
    return test::runInChild([&body] {
        SimLoop loop;
        loop.run(start(body(Environment())));
    });
}

TEST_CASE("mistake: a fork without a parent") {
    test::Death death = test::runInChild([] { (void)one(Environment()); });
    CHECK(death.aborted());
    CHECK(death.says("a Fork is made with an Environment"));
}

TEST_CASE("mistake: awaiting what was moved from") {
    test::Death death = runTask([](Context) -> Task<> {
        Fork<int> fork = one(co_await context());
        Fork<int> other = std::move(fork);
        co_await fork;
    });
    CHECK(death.aborted());
    CHECK(death.says("the handle of a task or fork has been moved from"));
}

TEST_CASE("mistake: a result that is moved out twice") {
    test::Death death = runTask([](Context) -> Task<> {
        Fork<int> fork = one(co_await context());
        int first = co_await std::move(fork);
        int second = co_await std::move(fork);
        CHECK(first == second);
    });
    CHECK(death.aborted());
    CHECK(death.says("the handle of a task or fork has been moved from"));
}

TEST_CASE("mistake: two await one task at a time") {
    test::Death death = runTask([](Context) -> Task<> {
        Context here = co_await context();
        Task<int> task = lazy(here);
        auto await = [](Context, Task<int>* shared) -> Fork<int> { co_return co_await *shared; };
        (void)await(here, &task);
        (void)await(here, &task);
        co_await destroyForks();
    });
    CHECK(death.aborted());
    CHECK(death.says("a Task is awaited twice at a time"));
}

TEST_CASE("mistake: an arena that goes before what is in it") {
    test::Death death = runTask([](Context) -> Task<> {
        ScopedArena arena;
        (void)one((co_await context()).with(arena));
    });
    CHECK(death.aborted());
    CHECK(death.says("a ScopedArena is destroyed while blocks of it are in use"));
}

TEST_CASE("mistake: a result that outlives the arena that it is in") {
    test::Death death = runTask([](Context) -> Task<> {
        Context here = co_await context();
        std::optional<Fork<int>> kept;
        ScopedArena arena;
        kept.emplace(one(here.with(arena)));
        co_await *kept;
        co_await destroyForks();
        arena.release();
    });
    CHECK(death.aborted());
    CHECK(death.says("ScopedArena::release() while blocks of it are in use"));
}

TEST_CASE("mistake: a second join() of a scope while the first one waits") {
    test::Death death = runTask([](Context) -> Task<> {
        Context here = co_await context();
        Scope scope(here);
        scope.spawn(sleeps(scope.context()));
        auto join = [](Context, Scope* joined) -> Fork<> { co_await joined->join(); };
        (void)join(here, &scope);
        (void)join(here, &scope);
    });
    CHECK(death.aborted());
    CHECK(death.says("two wait for the end of one scope"));
    SimLoop loop;
    Scope scope;
    scope.spawn(delay(1));
    Future<Void> first = keep(scope.join());
    CHECK_NAMES_CALLER((void)keep(scope.join()));
    CHECK_NAMES_CALLER((void)scope.drain(1));
}

TEST_CASE("mistake: a scope is given a function that returns an invalid future") {
    test::Death death = runTask([](Context) -> Task<> {
        Scope scope;
        scope.spawn([] { return Future<int>(); });
        co_return;
    });
    CHECK(death.aborted());
    CHECK(death.says("mistakes_test.cpp"));
}

TEST_CASE("mistake: a function that is called at the cancel of an Environment") {
    for (bool byToken : {false, true}) {
        test::Death death = test::runInChild([byToken] {
            SimLoop loop;
            if (byToken)
                CancelOnStop guard{Environment(), std::stop_token()};
            else
                OnCancelCall call{Environment(), [] {}};
        });
        CHECK(death.aborted());
        CHECK(death.says("an Environment is never cancelled"));
    }
}

TEST_CASE("mistake: a latch below zero, a barrier for none") {
    test::Death latch = test::runInChild([] {
        SimLoop loop;
        Latch(1).countDown(2);
    });
    CHECK(latch.says("a Latch counts down below zero"));
    test::Death barrier = test::runInChild([] {
        SimLoop loop;
        Barrier none(0);
    });
    CHECK(barrier.says("a Barrier without parties"));
}

} // namespace
