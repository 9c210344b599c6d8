#include "flow/structured/scope.h"

#include "flow/sim/sim_loop.h"
#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>
#include <string>

namespace {
using namespace flow;

std::string trace;

Task<> say(Context, std::string word, double seconds) {
    struct End {
        std::string const& word;
        ~End() { trace += word; }
    } end{word};
    co_await delay(seconds);
    trace += "!";
}
Task<> fail(Context, double seconds, Error error) {
    co_await delay(seconds);
    throw error;
}

template <class F>
Future<Void> inTask(F body) {
    trace.clear();
    return start(body(Environment()));
}

TEST_CASE("join() waits for all of a scope") {
    SimLoop loop;
    ::test::Balance balance;
    loop.run(inTask([](Context) -> Task<> {
        Scope scope(co_await context());
        scope.spawn(say(scope.context(), "a", 2));
        scope.spawn(say(scope.context(), "b", 1));
        CHECK(!scope.isEmpty());
        co_await destroyForks(); // those of the task itself: there are none
        CHECK(trace.empty());
        co_await scope.join();
        trace += ".";
        CHECK(scope.isEmpty());
        co_await scope.join();
    }));
    CHECK(trace == "!b!a.");
    CHECK(loop.now() == 2);
}

TEST_CASE("the first error cancels the rest of a scope") {
    SimLoop loop;
    ::test::Balance balance;
    Future<Void> failed = inTask([](Context) -> Task<> {
        Scope scope(co_await context());
        scope.spawn(say(scope.context(), "a", 5));
        scope.spawn(fail(scope.context(), 1, timed_out()));
        co_await scope.join();
    });
    CHECK_THROWS_AS(loop.run(failed), Error);
    CHECK(failed.getError() == timed_out());
    CHECK(trace == "a");
    CHECK(loop.now() == 1);
}

TEST_CASE("a scope collects errors if its options say so") {
    SimLoop loop;
    ::test::Balance balance;
    loop.run(inTask([](Context) -> Task<> {
        Scope scope(co_await context(), OnError::Collect);
        scope.spawn(fail(scope.context(), 2, broken_promise()));
        scope.spawn(fail(scope.context(), 1, timed_out()));
        scope.spawn(say(scope.context(), "a", 5));
        co_await scope.join();
        CHECK(scope.errors().size() == 2);
        CHECK(scope.errors()[0] == timed_out());
        CHECK(scope.errors()[1] == broken_promise());
    }));
    CHECK(trace == "!a");
}

TEST_CASE("drain() cancels what takes longer") {
    SimLoop loop;
    ::test::Balance balance;
    loop.run(inTask([](Context) -> Task<> {
        Scope scope(co_await context());
        scope.spawn(say(scope.context(), "a", 1));
        scope.spawn(say(scope.context(), "b", 9));
        bool inTime = co_await scope.drain(2);
        CHECK(!inTime);
        trace += ".";
        scope.spawn(say(scope.context(), "c", 1));
        bool second = co_await scope.drain(2);
        CHECK(second);
    }));
    CHECK(trace == "!ab.!c");
    CHECK(loop.now() == 3);
}

TEST_CASE("a scope that goes cancels its children, for which its task waits") {
    SimLoop loop;
    ::test::Balance balance;
    loop.run(inTask([](Context) -> Task<> {
        {
            Scope scope(co_await context());
            scope.spawn(say(scope.context(), "a", 5));
        }
        trace += ".";
    }));
    CHECK(trace == "a.");
}

TEST_CASE("cancelling a task cancels its scopes first, wherever it waits") {
    for (int place = 0; place < 3; ++place) {
        CAPTURE(place);
        SimLoop loop;
        ::test::Balance balance;
        Future<Void> running = inTask([place](Context) -> Task<> {
            int where = place; // in the frame: the lambda is destroyed after the first wait
            struct End {
                ~End() { trace += "t"; }
            } end;
            Scope scope(co_await context());
            scope.spawn(say(scope.context(), "a", 5));
            if (where == 0)
                co_await scope.join();
            else if (where == 1)
                co_await scope.drain(10);
            else
                co_await delay(10);
        });
        loop.run(delay(1));
        running.cancel();
        CHECK(trace == "at");
        CHECK(running.isError());
        CHECK(!loop.hasWork());
    }
}

} // namespace
