#include "flow/tasks/task.h"

#include "flow/sim/sim_loop.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/small_stack.h"

#include <doctest/doctest.h>
#include <memory>
#include <string>

namespace {
using namespace flow;

Task<int> seven(Context) {
    co_return 7;
}
Task<int> sum(Context, int a, int b) {
    int first = co_await seven(co_await context());
    co_await delay(1.0);
    co_return first + a + b;
}
Task<std::unique_ptr<int>> boxed(Context, std::unique_ptr<int> value) {
    co_return std::move(value);
}
Task<> setLater(Context, bool* done) {
    co_await delay(1.0);
    *done = true;
}
Task<int> failing(Context) {
    co_await delay(1.0);
    throw timed_out();
}

struct Counted {
    explicit Counted(int* n) : count(n) { ++*count; }
    Counted(Counted const& other) : count(other.count) { ++*count; }
    Counted(Counted&& other) noexcept : count(other.count) { ++*count; }
    ~Counted() { --*count; }
    int* count;
};
Task<int> holding(Context, Counted, bool* ran) {
    *ran = true;
    co_await delay(1000.0);
    co_return 1;
}

TEST_CASE("a task runs when it is awaited") {
    SimLoop loop;
    Environment environment;
    CHECK(loop.run(start(seven(environment))) == 7);
    CHECK(loop.run(start(sum(environment, 1, 2))) == 10);
    CHECK(loop.now() == 1.0);
    bool done = false;
    loop.run(start(setLater(environment, &done)));
    CHECK(done);
}

Future<std::string> waitsForTasks(Fork<int>* fork) {
    std::string trace = std::to_string(co_await sum(Environment(), 1, 2));
    Task<int> named = seven(Environment());
    trace += std::to_string(co_await std::move(named));
    bool done = false;
    co_await setLater(Environment(), &done);
    trace += done ? "d" : "-";
    std::unique_ptr<int> box = co_await boxed(Environment(), std::make_unique<int>(4));
    trace += std::to_string(*box);
    for (int i = 0; i < 2; ++i) {
        int again = co_await *fork; // any number of times
        trace += std::to_string(again);
    }
    try {
        (void)co_await failing(Environment());
    } catch (Error const& error) {
        trace += error.name();
    }
    co_return trace;
}
Fork<int> five(Context) {
    co_await delay(10.0);
    co_return 5;
}
Task<std::string> hasFork(Context) {
    Fork<int> fork = five(co_await context());
    Future<std::string> waiting = waitsForTasks(&fork);
    std::string trace = co_await std::move(waiting);
    co_return trace;
}

TEST_CASE("a coroutine that is no task waits for tasks and forks") {
    SimLoop loop;
    CHECK(loop.run(start(hasFork(Environment()))) == "107d455timed_out");
    CHECK(loop.now() == 11.0);
}

TEST_CASE("a cancel of a coroutine ends the task for which it waits") {
    SimLoop loop;
    int count = 0;
    bool ran = false;
    Future<int> waits = [](int* count, bool* ran) -> Future<int> {
        Task<int> task = holding(Environment(), Counted(count), ran);
        co_return co_await std::move(task);
    }(&count, &ran);
    CHECK((ran && count == 1));
    waits.cancel();
    CHECK((count == 0 && !loop.hasWork()));
}

TEST_CASE("a task moves what can only be moved") {
    SimLoop loop;
    std::unique_ptr<int> back = loop.run(start(boxed(Environment(), std::make_unique<int>(4))));
    CHECK(*back == 4);
}

TEST_CASE("a task fails with its error") {
    SimLoop loop;
    Future<int> failed = start(failing(Environment()));
    CHECK(!failed.isReady());
    CHECK_THROWS_AS(loop.run(failed), Error);
    CHECK(failed.getError() == timed_out());
}

TEST_CASE("a task that is not awaited does not run, and destroys its parameters") {
    int alive = 0;
    bool ran = false;
    {
        Task<int> task = holding(Environment(), Counted(&alive), &ran);
        CHECK(alive == 1);
    }
    CHECK(alive == 0);
    CHECK(!ran);
}

TEST_CASE("dropping the future of start() cancels the task at once") {
    SimLoop loop;
    int alive = 0;
    bool ran = false;
    {
        Future<int> future = start(holding(Environment(), Counted(&alive), &ran));
        CHECK(ran);
        CHECK(alive >= 1);
    }
    CHECK(alive == 0);
    CHECK(!loop.hasWork());
}

Task<int> chain(Context, int depth) {
    if (depth == 0)
        co_return 0;
    int below = co_await chain(co_await context(), depth - 1);
    co_return below + 1;
}
Task<int> sleepingChain(Context, int depth) {
    if (depth == 0) {
        co_await delay(1.0);
        co_return 0;
    }
    int below = co_await sleepingChain(co_await context(), depth - 1);
    co_return below + 1;
}

TEST_CASE("tasks nest to any depth") {
    using namespace flow::test;
    onSmallStack(kSmallStack, [] {
        SimLoop loop;
        Environment environment;
        constexpr int kDepth = kManyLinks;
        CHECK(loop.run(start(chain(environment, kDepth))) == kDepth);
        CHECK(loop.run(start(sleepingChain(environment, kDepth))) == kDepth);
        Future<int> cancelled = start(sleepingChain(environment, kDepth));
        cancelled.cancel();
        CHECK(cancelled.isError());
        CHECK(!loop.hasWork());
    });
}

} // namespace
