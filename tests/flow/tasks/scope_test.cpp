#include "flow/tasks/scope.h"

#include "flow/sim/sim_loop.h"
#include "flow/sim/world.h"
#include "flow/tasks/combine.h"
#include "flow/tasks/stop.h"
#include "tests/flow/support/balance.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <string>

namespace {
using namespace flow;

std::string scopeTrace;

Task<> sayLater(Context, std::string word, double seconds) {
    struct End {
        std::string const& word;
        ~End() { scopeTrace += word; }
    } end{word};
    co_await delay(seconds);
    scopeTrace += "!";
}
Task<> fail(Context, double seconds, Error error) {
    co_await delay(seconds);
    throw error;
}

template <class F>
Future<Void> inScopeTask(F body) {
    scopeTrace.clear();
    return start(body(Environment()));
}

TEST_CASE("join() waits for all of a scope") {
    SimLoop loop;
    test::Balance balance;
    loop.run(inScopeTask([](Context) -> Task<> {
        Scope scope(co_await context());
        scope.spawn(sayLater(scope.context(), "a", 2));
        scope.spawn(sayLater(scope.context(), "b", 1));
        CHECK(!scope.isEmpty());
        co_await destroyForks(); // those of the task itself: there are none
        CHECK(scopeTrace.empty());
        co_await scope.join();
        scopeTrace += ".";
        CHECK(scope.isEmpty());
        co_await scope.join();
    }));
    CHECK(scopeTrace == "!b!a.");
    CHECK(loop.now() == 2);
}

TEST_CASE("the first error cancels the rest of a scope") {
    SimLoop loop;
    test::Balance balance;
    Future<Void> failed = inScopeTask([](Context) -> Task<> {
        Scope scope(co_await context());
        scope.spawn(sayLater(scope.context(), "a", 5));
        scope.spawn(fail(scope.context(), 1, timed_out()));
        co_await scope.join();
    });
    CHECK_THROWS_AS(loop.run(failed), Error);
    CHECK(failed.getError() == timed_out());
    CHECK(scopeTrace == "a");
    CHECK(loop.now() == 1);
}

TEST_CASE("a scope collects errors if its options say so") {
    SimLoop loop;
    test::Balance balance;
    loop.run(inScopeTask([](Context) -> Task<> {
        Scope scope(co_await context(), OnError::Collect);
        scope.spawn(fail(scope.context(), 2, broken_promise()));
        scope.spawn(fail(scope.context(), 1, timed_out()));
        scope.spawn(sayLater(scope.context(), "a", 5));
        co_await scope.join();
        CHECK(scope.errors().size() == 2);
        CHECK(scope.errors()[0] == timed_out());
        CHECK(scope.errors()[1] == broken_promise());
    }));
    CHECK(scopeTrace == "!a");
}

TEST_CASE("drain() cancels what takes longer") {
    SimLoop loop;
    test::Balance balance;
    loop.run(inScopeTask([](Context) -> Task<> {
        Scope scope(co_await context());
        scope.spawn(sayLater(scope.context(), "a", 1));
        scope.spawn(sayLater(scope.context(), "b", 9));
        bool inTime = co_await scope.drain(2);
        CHECK(!inTime);
        scopeTrace += ".";
        scope.spawn(sayLater(scope.context(), "c", 1));
        bool second = co_await scope.drain(2);
        CHECK(second);
    }));
    CHECK(scopeTrace == "!ab.!c");
    CHECK(loop.now() == 3);
}

TEST_CASE("a scope that goes cancels its children, for which its task waits") {
    SimLoop loop;
    test::Balance balance;
    loop.run(inScopeTask([](Context) -> Task<> {
        {
            Scope scope(co_await context());
            scope.spawn(sayLater(scope.context(), "a", 5));
        }
        scopeTrace += ".";
    }));
    CHECK(scopeTrace == "a.");
}

TEST_CASE("cancelling a task cancels its scopes first, wherever it waits") {
    for (int place = 0; place < 3; ++place) {
        CAPTURE(place);
        SimLoop loop;
        test::Balance balance;
        Future<Void> running = inScopeTask([place](Context) -> Task<> {
            int where = place; // in the frame: the lambda is destroyed after the first wait
            struct End {
                ~End() { scopeTrace += "t"; }
            } end;
            Scope scope(co_await context());
            scope.spawn(sayLater(scope.context(), "a", 5));
            if (where == 0)
                co_await scope.join();
            else if (where == 1)
                co_await scope.drain(10);
            else
                co_await delay(10);
        });
        loop.run(delay(1));
        running.cancel();
        CHECK(scopeTrace == "at");
        CHECK(running.isError());
        CHECK(!loop.hasWork());
    }
}

TEST_CASE("a join that is cancelled ends at once, and leaves the children alone") {
    for (bool drains : {false, true}) {
        CAPTURE(drains);
        SimLoop loop;
        test::Balance balance;
        loop.run(inScopeTask([drains](Context) -> Task<> {
            bool isDrain = drains;
            Context here = co_await context();
            Scope scope(here);
            scope.spawn(sayLater(scope.context(), "a", 3));
            try {
                if (isDrain)
                    co_await timeoutError(here, scope.drain(2), 1);
                else
                    co_await timeoutError(here, scope.join(), 1);
                CHECK(false);
            } catch (Error const& error) {
                CHECK(error == timed_out());
            }
            CHECK(now() == 1);
            CHECK(!scope.isEmpty());
            CHECK(scopeTrace.empty());
            co_await scope.join();
            scopeTrace += ".";
        }));
        CHECK(scopeTrace == "!a.");
        CHECK(loop.now() == 3);
    }
}

TEST_CASE("a child that joins its parent's scope can be cancelled alone, also before it begins") {
    SimLoop loop;
    test::Balance balance;
    loop.run(inScopeTask([](Context) -> Task<> {
        struct Join {
            static Fork<> run(Context, Scope* scope) {
                try {
                    co_await scope->join();
                } catch (Error const& error) {
                    CHECK(error == actor_cancelled());
                    scopeTrace += "c";
                }
                co_await scope->join(); // fails at once, as every later wait
                CHECK(false);
            }
        };
        Context here = co_await context();
        Scope scope(here);
        scope.spawn(sayLater(scope.context(), "a", 3));
        Fork<> joins = Join::run(here, &scope);
        co_await delay(1);
        joins.cancel();
        CHECK(joins.isError());
        CHECK(joins.future().getError() == actor_cancelled());
        CHECK(scopeTrace == "c");
        co_await scope.join();
    }));
    CHECK(scopeTrace == "c!a");
    CHECK(loop.now() == 3);
}

TEST_CASE("a scope frees itself after a cancelled join when its last child has ended") {
    SimLoop loop;
    test::Balance balance;
    loop.run(inScopeTask([](Context) -> Task<> {
        struct Stays {
            static Task<> run(Context) {
                try {
                    co_await delay(5);
                } catch (Error const&) {
                }
                scopeTrace += "a";
            }
        };
        Context here = co_await context();
        {
            Scope scope(here);
            scope.spawn(Stays::run(scope.context()));
            try {
                co_await timeoutError(here, scope.join(), 1);
            } catch (Error const&) {
            }
        }
        CHECK(scopeTrace == "a");
    }));
}

/// A process with a task that waits in every way that a tree has.
Future<Void> manyWaits(int place) {
    struct Tree {
        static Task<> child(Context, int depth) {
            struct End {
                ~End() { scopeTrace += "e"; }
            } end;
            Context here = co_await context();
            Scope inner(here);
            OnCancelCall onCancel(here, [] {});
            if (depth > 0) {
                inner.spawn(child(inner.context(), depth - 1));
                inner.spawn(child(inner.context(), depth - 1));
            }
            inner.spawn(sayLater(inner.context(), "s", 100));
            if (depth % 2 == 0)
                co_await inner.join();
            else
                co_await all(here, inner.drain(200), sayLater(here, "w", 300));
            scopeTrace += "#";
        }
        static Fork<> joins(Context, Scope* scope) {
            co_await scope->join();
            scopeTrace += "#";
        }
        static Task<> owner(Context, Scope* outer, int place) {
            Context here = co_await context();
            Scope scope(place == 0 ? Context(here.memory(), outer->context().parent()) : here);
            scope.spawn(child(scope.context(), 2));
            Fork<> fork = joins(here, &scope);
            if (place == 1)
                co_await destroyForks();
            else if (place == 2)
                co_await fork;
            else
                co_await delay(1000);
            scopeTrace += "#";
        }
        static Task<> root(Context, int place) {
            Scope outer(co_await context());
            outer.spawn(owner(outer.context(), &outer, place));
            co_await timeoutError(co_await context(), outer.join(), 500);
            scopeTrace += "#";
        }
    };
    return start(Tree::root(Environment(), place));
}

TEST_CASE("what is destroyed with its simulated process runs nothing but destructors, wherever it waits") {
    for (int place = 0; place < 4; ++place) {
        CAPTURE(place);
        test::Balance balance;
        {
            World world(1);
            Process& process = world.start({.name = "p", .main = [place] { return manyWaits(place); }});
            world.run(delay(1));
            scopeTrace.clear();
            world.kill(process);
            CHECK(scopeTrace.find('#') == scopeTrace.npos);
            CHECK(scopeTrace.find('!') == scopeTrace.npos);
            CHECK(std::count(scopeTrace.begin(), scopeTrace.end(), 'e') == 7);
            world.run(delay(2000));
            CHECK(world.leakedCells() == 0);
        }
    }
}

} // namespace
