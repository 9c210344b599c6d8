// A Scope without a Context, with futures and functions as children: in coroutines, objects and tasks. Fibers are in
// tests/flow/fiber, actors in tests/programs/scopes.actor.cpp.
#include "flow/combine/all.h"
#include "flow/combine/race.h"
#include "flow/combine/timeout.h"
#include "flow/coro/coroutine.h"
#include "flow/sim/sim_loop.h"
#include "flow/sim/world.h"
#include "flow/tasks/executor.h"
#include "flow/tasks/scope.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/cancel_everywhere.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace root_scope { // its helpers have the names of those of other tests
namespace {
using namespace flow;

/// The words of what has ended; a word with "!" has come to its end, and was not cancelled.
using Log = std::string;

struct End {
    Log* log;
    char const* word;
    ~End() { *log += word; }
};
Future<Void> later(Log* log, char const* word, double seconds) {
    End end{log, word};
    co_await delay(seconds);
    *log += "!";
}
Task<int> taskLater(Context, Log* log, char const* word, double seconds) {
    End end{log, word};
    co_await delay(seconds);
    *log += "!";
    co_return 1;
}
Future<int> failing(double seconds, Error error) {
    co_await delay(seconds);
    throw error;
}

TEST_CASE("root scope: holds futures, tasks and functions, and join() waits for all") {
    SimLoop loop;
    test::Balance balance;
    Log log;
    loop.run([](Log* to) -> Future<Void> {
        Scope scope;
        scope.spawn(later(to, "f", 1));
        scope.spawn(taskLater(Environment(), to, "t", 2));
        scope.spawn(taskLater(scope.context(), to, "c", 3));
        std::unique_ptr<int> held = std::make_unique<int>(4);
        auto function = [to, held = std::move(held)]() -> Future<Void> {
            co_await delay(*held);
            *to += "l";
        };
        scope.spawn(std::move(function));
        scope.spawn([to] { return taskLater(Environment(), to, "g", 5); });
        scope.spawn(Future<Void>(Void()));
        CHECK(scope.size() == 5);
        co_await scope.join();
        *to += ".";
        CHECK(scope.isEmpty());
        CHECK(scope.size() == 0);
        co_await scope.join();
        bool inTime = co_await scope.drain(1);
        CHECK(inTime);
    }(&log));
    CHECK(log == "!f!t!cl!g.");
    CHECK(loop.now() == 5);
}

TEST_CASE("root scope: the first error cancels the rest, oldest first, and join() throws it") {
    SimLoop loop;
    test::Balance balance;
    Log log;
    loop.run([](Log* to) -> Future<Void> {
        Scope scope;
        scope.spawn(later(to, "a", 5));
        scope.spawn(taskLater(Environment(), to, "b", 5));
        scope.spawn(failing(1, timed_out()));
        scope.spawn(later(to, "c", 5));
        try {
            co_await scope.join();
            CHECK(false);
        } catch (Error const& error) {
            CHECK(error == timed_out());
        }
        CHECK(scope.errors().size() == 1);
        CHECK(now() == 1);
    }(&log));
    CHECK(log == "abc");
}

TEST_CASE("root scope: OnError::Collect keeps all errors, Report none") {
    SimLoop loop;
    test::Balance balance;
    Log log;
    static std::vector<Error> reported;
    reported.clear();
    DroppedErrorHandler before = setDroppedErrorHandler([](char const*, Error error) { reported.push_back(error); });
    auto run = [](Log* to, OnError onError, std::size_t* kept) -> Future<Void> {
        Scope scope(onError);
        scope.spawn(failing(2, broken_promise()));
        scope.spawn(failing(1, timed_out()));
        scope.spawn(Future<Void>(io_error()));
        scope.spawn(later(to, "a", 3));
        co_await scope.join();
        *kept = scope.errors().size();
    };
    std::size_t kept = 0;
    loop.run(run(&log, OnError::Collect, &kept));
    CHECK(kept == 3);
    CHECK(reported.empty());
    loop.run(run(&log, OnError::Report, &kept));
    CHECK(kept == 0);
    CHECK(reported.size() == 2); // not broken_promise, which says only that something has ended
    CHECK(log == "!a!a");
    setDroppedErrorHandler(before);
}

TEST_CASE("root scope: drain() cancels what takes longer, and a scope that goes cancels all") {
    SimLoop loop;
    test::Balance balance;
    Log log;
    loop.run([](Log* to) -> Future<Void> {
        {
            Scope scope;
            scope.spawn(later(to, "a", 1));
            scope.spawn(later(to, "b", 9));
            bool inTime = co_await scope.drain(2);
            CHECK(!inTime);
            CHECK(now() == 2);
            *to += ".";
            scope.spawn(later(to, "c", 1));
            inTime = co_await scope.drain(2);
            CHECK(inTime);
            scope.spawn(later(to, "d", 1));
            scope.spawn(taskLater(Environment(), to, "e", 1));
        }
        *to += ".";
    }(&log));
    CHECK(log == "!ab.!cde.");
    CHECK(loop.now() == 3);
    CHECK(!loop.hasWork());
}

TEST_CASE("root scope: join() and drain() that are cancelled or lose a race leave the children alone") {
    SimLoop loop;
    test::Balance balance;
    Log log;
    loop.run([](Log* to) -> Future<Void> {
        Scope scope;
        scope.spawn(later(to, "a", 5));
        auto first = co_await race(scope.join(), delay(1));
        CHECK(first.index() == 1);
        auto second = co_await race(scope.drain(3), delay(1));
        CHECK(second.index() == 1);
        Optional<Void> third = co_await timeout(scope.join(), 1);
        CHECK(!third.present());
        {
            Future<Void> kept = keep(scope.join());
        }
        CHECK(to->empty());
        CHECK(scope.size() == 1);
        auto last = co_await race(scope.join(), delay(9));
        CHECK(last.index() == 0);
    }(&log));
    CHECK(log == "!a");
    CHECK(loop.now() == 5);
    CHECK(!loop.hasWork());
}

TEST_CASE("root scope: what children spawn while the scope ends is dropped, and close() drops all that come later") {
    SimLoop loop;
    test::Balance balance;
    Log log;
    struct SpawnsAtEnd {
        Scope* scope;
        Log* log;
        ~SpawnsAtEnd() { scope->spawn(later(log, "n", 1)); }
    };
    auto spawns = [](Scope* scope, Log* to) -> Future<Void> {
        SpawnsAtEnd end{scope, to};
        co_await delay(1);
    };
    {
        std::optional<Scope> scope(std::in_place);
        scope->spawn(spawns(&*scope, &log));
        scope->spawn(later(&log, "a", 2));
        loop.run(delay(0.5));
        scope.reset();
        CHECK(log == "na");
    }
    log.clear();
    Scope scope;
    scope.spawn(spawns(&scope, &log));
    loop.run(delay(1.5));
    CHECK(log.empty());
    CHECK(scope.size() == 1);
    scope.close();
    CHECK(log == "n");
    scope.spawn(later(&log, "b", 1));
    scope.spawn(taskLater(Environment(), &log, "t", 1));
    CHECK(log == "nbt");
    CHECK(scope.isEmpty());
}

TEST_CASE("root scope: the last child, or a joiner, destroys the scope") {
    SimLoop loop;
    test::Balance balance;
    for (int by = 0; by < 3; ++by) {
        CAPTURE(by);
        auto* scope = new Scope;
        Promise<Void> go;
        scope->spawn(delay(9));
        Future<Void> joined = [](Scope* all, int who) -> Future<Void> {
            try {
                co_await all->join();
                CHECK(false);
            } catch (Error const& error) {
                CHECK(error == (who == 0 ? broken_promise() : timed_out()));
            }
            if (who != 0)
                delete all;
        }(scope, by);
        scope->spawn([](Scope* all, int who, Future<Void> until) -> Future<Void> {
            co_await until;
            if (who == 0)
                delete all;
            if (who == 2)
                throw timed_out();
        }(scope, by, go.getFuture()));
        if (by == 1)
            scope->spawn(failing(0, timed_out()));
        go.send(Void());
        loop.run(delay(10));
        CHECK(joined.isReady());
        CHECK(!joined.isError());
    }
}

TEST_CASE("root scope: a joiner gets broken_promise if children are left when the scope goes") {
    SimLoop loop;
    test::Balance balance;
    Log log;
    auto scope = std::make_unique<Scope>();
    // The cancel of a child on another loop, which is this one here, comes back in a later turn.
    auto child = [&log](Context there) { return taskLater(there, &log, "a", 5); };
    (void)runOn(scope->context(), loop, child);
    Future<Void> joined = keep(scope->join());
    loop.run(delay(1));
    scope.reset();
    CHECK(joined.isError());
    CHECK(joined.getError() == broken_promise());
    CHECK(log.empty());
    loop.run(delay(1));
    CHECK(log == "a");
}

TEST_CASE("root scope: in a task, and of a scope that belongs to the task, with futures") {
    for (bool isRoot : {false, true}) {
        CAPTURE(isRoot);
        SimLoop loop;
        test::Balance balance;
        Log log;
        auto body = [](Context, Log* to, bool root) -> Task<> {
            Context here = co_await context();
            Scope scope(root ? Context(Environment()) : here);
            scope.spawn(later(to, "a", 1));
            scope.spawn(taskLater(scope.context(), to, "b", 2));
            scope.spawn([to] { return later(to, "c", 3); });
            bool inTime = co_await scope.drain(2.5);
            CHECK(!inTime);
            scope.spawn(later(to, "d", 1));
            co_await scope.join();
            scope.spawn(later(to, "e", 9));
            co_await scope.join();
        };
        Future<Void> running = start(body(Environment(), &log, isRoot));
        loop.run(delay(5));
        CHECK(log == "!a!bc!d");
        running.cancel();
        CHECK(log == "!a!bc!de");
        CHECK(running.isError());
        CHECK(!loop.hasWork());
    }
}

TEST_CASE("root scope: every cancel") {
    auto join = [](test::Inputs& in) {
        return [](test::Inputs& inputs, Propagate = {}) -> Future<Void> {
            Scope scope;
            for (int i = 0; i < 3; ++i)
                scope.spawn(inputs.number(i));
            co_await scope.join();
        }(in);
    };
    auto drain = [](test::Inputs& in) {
        return [](test::Inputs& inputs, Propagate = {}) -> Future<Void> {
            Scope scope(OnError::Collect);
            for (int i = 0; i < 3; ++i)
                scope.spawn(inputs.number(i));
            scope.spawn([held = inputs.sentinel()] { return delay(0.3); });
            (void)co_await scope.drain(1);
        }(in);
    };
    auto inTask = [](test::Inputs& in) {
        auto body = [](Context, test::Inputs* inputs) -> Task<> {
            Scope scope(co_await context());
            for (int i = 0; i < 3; ++i)
                scope.spawn(inputs->number(i));
            (void)co_await scope.drain(1);
            co_await scope.join();
        };
        return start(body(Environment(), &in));
    };
    auto kept = [](test::Inputs& in) {
        return [](test::Inputs& inputs, Propagate = {}) -> Future<Void> {
            Scope scope;
            scope.spawn(inputs.number(0));
            scope.spawn(inputs.number(1));
            co_await all(keep(scope.join()), inputs.number(2));
        }(in);
    };
    test::Traits throws{.hasHandlers = true}; // join() throws what a child has thrown
    test::cancelEverywhere("Scope::join", join, throws);
    test::cancelEverywhere("Scope::drain", drain);
    test::cancelEverywhere("Scope of a task", inTask, throws);
    test::cancelEverywhere("Scope::join, kept", kept, throws);
}

TEST_CASE("root scope: a simulated process that is killed runs nothing but destructors of the children") {
    for (bool asTasks : {false, true}) {
        CAPTURE(asTasks);
        test::Balance balance;
        Log log;
        {
            World world(1);
            auto main = [](Log* to, bool tasks) -> Future<Void> {
                Scope scope;
                for (char const* word : {"a", "b", "c"}) {
                    if (tasks)
                        scope.spawn(taskLater(scope.context(), to, word, 100));
                    else
                        scope.spawn(later(to, word, 100));
                }
                auto fork = [](Context, Log* log) -> Fork<> {
                    End end{log, "f"};
                    try {
                        co_await delay(100);
                    } catch (Error const&) {
                        *log += "#";
                    }
                    *log += "#";
                };
                (void)fork(scope.context(), to);
                co_await scope.join();
                *to += "#";
            };
            Process& process = world.start({.name = "p", .main = [&] { return main(&log, asTasks); }});
            world.run(delay(1));
            world.kill(process);
            std::sort(log.begin(), log.end());
            CHECK(log == "abcf");
            world.run(delay(200));
            CHECK(world.leakedCells() == 0);
        }
    }
}

} // namespace
} // namespace root_scope
