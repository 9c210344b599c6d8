#include "flow/tasks/fork.h"

#include "flow/combine/race.h"
#include "flow/sim/sim_loop.h"
#include "flow/tasks/task.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/small_stack.h"

#include <doctest/doctest.h>
#include <string>
#include <vector>

namespace {
using namespace flow;

std::string trace;

Fork<std::string> say(Context, std::string word, double seconds) {
    trace += "<" + word;
    struct End {
        std::string const& name;
        ~End() { trace += ">" + name; }
    } end{word};
    co_await delay(seconds);
    co_return word + "!";
}

Task<std::string> twice(Context) {
    Fork<std::string> a = say(co_await context(), "a", 1.0);
    Fork<std::string> b = say(co_await context(), "b", 2.0);
    std::string const& first = co_await a;
    std::string const& again = co_await a;
    CHECK(&first == &again);
    std::string second = co_await std::move(b);
    co_return first + second;
}

Task<> leave(Context) {
    Fork<std::string> a = say(co_await context(), "a", 1.0);
    Fork<std::string> b = say(co_await context(), "b", 2.0);
    co_await delay(0.5);
    trace += "end";
}

Task<> fail(Context) {
    Fork<std::string> a = say(co_await context(), "a", 1.0);
    co_await delay(0.5);
    throw timed_out();
}

TEST_CASE("a fork starts at once, and can be awaited twice") {
    SimLoop loop;
    trace.clear();
    CHECK(loop.run(start(twice(Environment()))) == "a!b!");
    CHECK(trace == "<a<b>a>b");
}

TEST_CASE("a fork that its task returns has ended, and its handle has the result") {
    auto handsOut = [](Context) -> Task<Fork<std::string>> {
        Fork<std::string> made = say(co_await context(), "a", 1.0);
        co_return std::move(made);
    };
    auto body = [](Context, decltype(handsOut) make) -> Task<std::string> {
        Fork<std::string> made = co_await make(co_await context());
        CHECK(made.isReady());
        co_return co_await std::move(made);
    };
    SimLoop loop;
    trace.clear();
    CHECK(loop.run(start(body(Environment(), handsOut))) == "a!");
    CHECK(trace == "<a>a");
    CHECK(loop.now() == 1);
}

TEST_CASE("a parent ends after its children") {
    SimLoop loop;
    trace.clear();
    loop.run(start(leave(Environment())));
    CHECK(trace == "<a<bend>a>b");
    CHECK(loop.now() == 2.0);
}

TEST_CASE("a parent that fails cancels its children and waits for them") {
    SimLoop loop;
    trace.clear();
    Future<Void> failed = start(fail(Environment()));
    CHECK_THROWS_AS(loop.run(failed), Error);
    CHECK(failed.getError() == timed_out());
    CHECK(trace == "<a>a");
    CHECK(loop.now() == 0.5);
}

TEST_CASE("a cancel goes down the tree at once, children first") {
    SimLoop loop;
    trace.clear();
    auto root = [](Context) -> Task<> {
        struct End {
            ~End() { trace += ">root"; }
        } end;
        auto inner = [](Context) -> Fork<> {
            Fork<std::string> c = say(co_await context(), "c", 100);
            co_await c;
        };
        Fork<std::string> a = say(co_await context(), "a", 100);
        Fork<> b = inner(co_await context());
        co_await delay(50);
    };
    Future<Void> running = start(root(Environment()));
    running.cancel();
    CHECK(trace == "<a<c>c>a>root");
    CHECK(running.isError());
    CHECK(!loop.hasWork());
}

TEST_CASE("destroyForks() waits for all children") {
    SimLoop loop;
    trace.clear();
    auto root = [](Context) -> Task<> {
        for (int i = 0; i < 3; ++i)
            (void)say(co_await context(), std::to_string(i), i);
        co_await destroyForks();
        trace += ".";
        co_await destroyForks();
        trace += ".";
    };
    loop.run(start(root(Environment())));
    CHECK(trace == "<0<1<2>0>1>2..");
}

TEST_CASE("cancelForks() cancels the children and not the parent") {
    SimLoop loop;
    trace.clear();
    auto root = [](Context) -> Task<int> {
        Fork<std::string> a = say(co_await context(), "a", 1);
        Fork<std::string> b = say(co_await context(), "b", 2);
        co_await delay(1.5);
        co_await cancelForks();
        trace += ".";
        bool failed = false;
        try {
            co_await b;
        } catch (Error const& error) {
            failed = error == actor_cancelled();
        }
        CHECK(failed);
        CHECK((co_await a) == "a!");
        co_await delay(1);
        co_return 1;
    };
    CHECK(loop.run(start(root(Environment()))) == 1);
    CHECK(trace == "<a<b>a>b.");
}

TEST_CASE("a fork awaits futures, and others await its future") {
    SimLoop loop;
    Promise<int> promise;
    auto root = [](Context, Future<int> number) -> Task<int> {
        auto child = [](Context, Future<int> n) -> Fork<int> { co_return 1 + co_await n; };
        Fork<int> fork = child(co_await context(), number);
        auto first = co_await race(fork.future(), delay(1));
        CHECK(first.index() == 1);
        auto second = co_await race(fork.future(), delay(10));
        co_return std::get<0>(second);
    };
    Future<int> result = start(root(Environment(), promise.getFuture()));
    Future<Void> later = [](Promise<int> p) -> Future<Void> {
        co_await delay(3);
        p.send(4);
    }(promise);
    CHECK(loop.run(result) == 5);
}

TEST_CASE("a fork on the loop begins in a turn of it") {
    SimLoop loop;
    trace.clear();
    auto root = [](Context) -> Task<int> {
        auto child = [](Context) -> Fork<int, CurrentLoop> {
            trace += "c";
            co_return 3;
        };
        Fork<int, CurrentLoop> a = child(co_await context());
        trace += "r";
        co_return co_await a;
    };
    CHECK(loop.run(start(root(Environment()))) == 3);
    CHECK(trace == "rc");
    trace.clear();
    Future<int> dropped = start(root(Environment()));
    dropped.cancel();
    CHECK(trace == "r"); // what was cancelled before it began never runs
}

Fork<int> nested(Context, int depth) {
    if (depth == 0)
        co_return 0;
    Fork<int> below = nested(co_await context(), depth - 1);
    co_return 1 + co_await below;
}
Fork<int> nestedAsleep(Context, int depth) {
    if (depth == 0) {
        co_await delay(1);
        co_return 0;
    }
    Fork<int> below = nestedAsleep(co_await context(), depth - 1);
    co_return 1 + co_await below;
}

TEST_CASE("forks nest to any depth") {
    using namespace flow::test;
    onSmallStack(kSmallStack, [] {
        SimLoop loop;
        constexpr int kDepth = kManyLinks;
        auto root = [](Context) -> Task<int> { co_return co_await nested(co_await context(), kDepth); };
        CHECK(loop.run(start(root(Environment()))) == kDepth);
        auto asleep = [](Context) -> Task<int> { co_return co_await nestedAsleep(co_await context(), kDepth); };
        CHECK(loop.run(start(asleep(Environment()))) == kDepth);
        Future<int> cancelled = start(asleep(Environment()));
        loop.run(delay(0.5));
        cancelled.cancel();
        CHECK(cancelled.isError());
        CHECK(!loop.hasWork());
    });
}

} // namespace
