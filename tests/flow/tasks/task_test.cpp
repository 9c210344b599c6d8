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
