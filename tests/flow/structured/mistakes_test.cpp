#include "flow/memory/scoped_arena.h"
#include "flow/sim/sim_loop.h"
#include "flow/structured/task.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/death.h"

#include <doctest/doctest.h>

// The table of flow/structured/README.md.

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

template <class F>
::test::Death runTask(F body) {
    return ::test::runInChild([&body] {
        SimLoop loop;
        loop.run(start(body(Environment())));
    });
}

TEST_CASE("mistake: a fork without a parent") {
    ::test::Death death = ::test::runInChild([] { (void)one(Environment()); });
    CHECK(death.aborted());
    CHECK(death.says("a Fork is made with an Environment"));
}

TEST_CASE("mistake: awaiting what was moved from") {
    ::test::Death death = runTask([](Context) -> Task<> {
        Fork<int> fork = one(co_await context());
        Fork<int> other = std::move(fork);
        co_await fork;
    });
    CHECK(death.aborted());
    CHECK(death.says("the handle of a task or fork has been moved from"));
}

TEST_CASE("mistake: two await one task at a time") {
    ::test::Death death = runTask([](Context) -> Task<> {
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
    ::test::Death death = runTask([](Context) -> Task<> {
        ScopedArena arena;
        (void)one((co_await context()).with(arena));
    });
    CHECK(death.aborted());
    CHECK(death.says("a ScopedArena is destroyed while blocks of it are in use"));
}

} // namespace
