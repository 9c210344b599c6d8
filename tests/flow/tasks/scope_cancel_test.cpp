// Cancels, errors, deadlines and shields of a Scope: the order of ends, and what a waiting join() or drain() gets.
#include "flow/combine/map.h"
#include "flow/combine/race.h"
#include "flow/combine/timeout.h"
#include "flow/coro/coroutine.h"
#include "flow/sim/sim_loop.h"
#include "flow/tasks/scope.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/balance.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <memory>
#include <memory_resource>
#include <optional>
#include <string>

namespace scope_cancel { // its helpers have the names of those of other tests
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

TEST_CASE("scope cancel: whatever waits for a scope that goes fails with broken_promise") {
    for (bool drains : {false, true}) {
        CAPTURE(drains);
        SimLoop loop;
        test::Balance balance;
        auto scope = std::make_unique<Scope>();
        scope->spawn(delay(5));
        Future<bool> waits = drains ? scope->drain(9) : map(keep(scope->join()), [](Void) { return true; });
        loop.run(delay(1));
        scope.reset();
        REQUIRE(waits.isError());
        CHECK(waits.getError() == broken_promise());
    }
}

TEST_CASE("scope cancel: a task that is cancelled while it waits for its scope gets actor_cancelled") {
    enum class By : std::uint8_t { Join, Drain, Timeout, Race };
    for (By by : {By::Join, By::Drain, By::Timeout, By::Race})
        for (bool isRoot : {false, true}) {
            CAPTURE(by);
            CAPTURE(isRoot);
            SimLoop loop;
            test::Balance balance;
            Log log;
            auto body = [](Context, By how, bool root, Log* to) -> Task<> {
                Scope scope(root ? Context(Environment()) : co_await context());
                scope.spawn(later(to, "f", 9));
                scope.spawn(taskLater(scope.context(), to, "t", 9));
                try {
                    if (how == By::Join)
                        co_await scope.join();
                    else if (how == By::Drain)
                        (void)co_await scope.drain(60);
                    else if (how == By::Timeout)
                        (void)co_await timeout(scope.join(), 60);
                    else
                        (void)co_await race(scope.join(), delay(60));
                    *to += "#";
                } catch (Error const& error) {
                    *to += error == actor_cancelled() ? "c" : "#";
                }
            };
            Future<Void> running = start(body(Environment(), by, isRoot, &log));
            loop.run(delay(1));
            running.cancel();
            std::sort(log.begin(), log.end());
            CHECK(log == "cft");
        }
}

TEST_CASE("scope cancel: a child that cancels its scope, or makes another child fail, ends before a joiner resumes") {
    // The last way fails another child, and so cancels the one that is running.
    enum class By : std::uint8_t { Cancel, Close, Error };
    for (By by : {By::Cancel, By::Close, By::Error})
        for (bool drains : {false, true}) {
            CAPTURE(by);
            CAPTURE(drains);
            SimLoop loop;
            test::Balance balance;
            Log log;
            auto inner = [](Scope* scope, By how, Promise<Void> fails, Log* to) -> Future<Void> {
                End end{to, "i"};
                co_await delay(1);
                if (how == By::Cancel)
                    scope->cancel();
                else if (how == By::Close)
                    scope->close();
                else
                    fails.sendError(timed_out());
                *to += "-";
                co_await delay(1);
                *to += "#";
            };
            auto outer = [](Future<Void> calls) -> Future<Void> { co_await std::move(calls); };
            loop.run([](auto make, auto outer, By how, bool drain, Log* to) -> Future<Void> {
                Promise<Void> fails;
                Scope scope;
                scope.spawn(fails.getFuture());
                scope.spawn(outer(make(&scope, how, fails, to)));
                if (how == By::Cancel)
                    fails.send(Void());
                try {
                    if (drain) {
                        bool inTime = co_await scope.drain(9);
                        CHECK(inTime);
                    } else {
                        co_await scope.join();
                    }
                    CHECK(how != By::Error);
                } catch (Error const& error) {
                    CHECK(how == By::Error);
                    CHECK(error == timed_out());
                }
                *to += "j";
                CHECK(scope.isEmpty());
            }(inner, outer, by, drains, &log));
            CHECK(log == "-ij");
            CHECK(loop.now() == 1);
        }
    // Nothing is left of a scope that goes before that turn.
    SimLoop loop;
    test::Balance balance;
    auto scope = std::make_unique<Scope>();
    scope->spawn(delay(5));
    Future<Void> joined = keep(scope->join());
    scope->cancel();
    CHECK(!joined.isReady());
    scope.reset();
    CHECK(joined.isError());
    CHECK(!loop.hasWork());
}

TEST_CASE("scope cancel: a join() or drain() that begins inside of a child ends after the child") {
    for (bool drains : {false, true}) {
        CAPTURE(drains);
        SimLoop loop;
        test::Balance balance;
        Log log;
        auto* scope = new Scope;
        Promise<Void> told;
        scope->spawn([](Scope* all, Promise<Void> tells, Log* to) -> Future<Void> {
            co_await delay(1);
            all->cancel();
            CHECK(all->isEmpty());
            CHECK(all->size() == 0);
            all->cancel();
            tells.send(Void());
            *to += "c";
        }(scope, told, &log));
        loop.run([](Scope* all, Future<Void> until, bool drain, Log* to) -> Future<Void> {
            co_await until;
            if (drain)
                (void)co_await all->drain(5);
            else
                co_await all->join();
            *to += "j";
            delete all;
        }(scope, told.getFuture(), drains, &log));
        CHECK(log == "cj");
        CHECK(loop.now() == 1);
    }
}

TEST_CASE("scope cancel: the error of a task that fails while it is cancelled is one of the scope's errors") {
    SimLoop loop;
    test::Balance balance;
    auto fails = [](Context) -> Task<> {
        try {
            co_await delay(9);
        } catch (Error const&) {
        }
        throw io_error();
    };
    auto body = [fails](Context, bool isRoot) -> Task<> {
        Scope scope(isRoot ? Context(Environment()) : co_await context(), OnError::Collect);
        scope.spawn(fails(scope.context()));
        bool inTime = co_await scope.drain(1);
        CHECK(!inTime);
        CHECK(scope.errors().size() == 1);
    };
    loop.run(start(body(Environment(), false)));
}

TEST_CASE("scope cancel: without memory for an error the scope goes on, and its memory ends with it") {
    struct Limited : std::pmr::memory_resource {
        int left = 0;
        int held = 0;
        void* do_allocate(std::size_t bytes, std::size_t alignment) override {
            if (left-- <= 0)
                throw std::bad_alloc();
            ++held;
            return std::pmr::new_delete_resource()->allocate(bytes, alignment);
        }
        void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override {
            --held;
            std::pmr::new_delete_resource()->deallocate(block, bytes, alignment);
        }
        bool do_is_equal(std::pmr::memory_resource const& other) const noexcept override { return this == &other; }
    };
    static int reported;
    reported = 0;
    DroppedErrorHandler before = setDroppedErrorHandler([](char const*, Error) { ++reported; });
    SimLoop loop;
    test::Balance balance;
    Limited memory;
    for (OnError onError : {OnError::Collect, OnError::CancelRest}) {
        memory.left = 2; // for the scope and for one future
        Log log;
        Scope scope(Context(Environment(memory)), onError);
        scope.spawn(failing(1, io_error()));
        loop.run(delay(2));
        if (onError == OnError::Collect)
            scope.spawn(Future<Void>(timed_out()));
        CHECK(scope.isEmpty());
        CHECK(scope.errors().empty());
        memory.left = 9;
        scope.spawn(later(&log, "a", 1));
        Future<Void> joined = keep(scope.join());
        loop.run(delay(3));
        CHECK(joined.isReady());
        CHECK(joined.isError() == (onError == OnError::CancelRest));
        CHECK(log == (onError == OnError::CancelRest ? "a" : "!a"));
    }
    CHECK(reported == 3);
    setDroppedErrorHandler(before);
    {
        memory.left = 9;
        Scope scope{Context(Environment(memory))};
        scope.spawn(delay(9));
        Future<Void> joined = keep(scope.join());
        scope.cancel();
    }
    CHECK(memory.held == 0);
}

TEST_CASE("scope cancel: cancel() leaves alone what children spawn while they end") {
    SimLoop loop;
    test::Balance balance;
    Log log;
    struct SpawnsAtEnd {
        Scope* scope;
        Log* log;
        bool asTask;
        ~SpawnsAtEnd() {
            if (asTask)
                scope->spawn(taskLater(scope->context(), log, "n", 1));
            else
                scope->spawn(later(log, "n", 1));
        }
    };
    auto future = [](Scope* scope, Log* to, bool asTask) -> Future<Void> {
        SpawnsAtEnd end{scope, to, asTask};
        co_await delay(9);
    };
    auto task = [](Context, Scope* scope, Log* to, bool asTask) -> Task<> {
        SpawnsAtEnd end{scope, to, asTask};
        co_await delay(9);
    };
    for (bool outer : {false, true})
        for (bool asTask : {false, true}) {
            CAPTURE(outer);
            CAPTURE(asTask);
            log.clear();
            Scope scope;
            for (int i = 0; i < 3; ++i) {
                if (outer)
                    scope.spawn(task(scope.context(), &scope, &log, asTask));
                else
                    scope.spawn(future(&scope, &log, asTask));
                scope.spawn(later(&log, "a", 9));
            }
            scope.cancel();
            CHECK(log == "aaa");
            CHECK(!scope.isEmpty());
            loop.run(scope.drain(2));
            CHECK(log == "aaa!n!n!n");
        }
}

TEST_CASE("scope cancel: the first error closes the scope for children that come later") {
    SimLoop loop;
    test::Balance balance;
    Log log;
    Scope scope;
    scope.spawn(failing(0, timed_out()));
    loop.run(delay(1));
    scope.spawn(later(&log, "f", 1));
    scope.spawn(taskLater(Environment(), &log, "t", 1));
    scope.spawn(taskLater(scope.context(), &log, "c", 1));
    CHECK(log == "ftc");
    CHECK(scope.isEmpty());
    CHECK(scope.errors().size() == 1);
}

TEST_CASE("scope cancel: a deadline holds for all that the scope does, and the earliest one for nested scopes") {
    SimLoop loop;
    test::Balance balance;
    Log log;
    auto nested = [](Log* to, double seconds) -> Future<Void> {
        Scope inner;
        inner.closeAfter(seconds);
        inner.spawn(later(to, "i", 9));
        co_await inner.join();
    };
    for (double inner : {1.0, 5.0}) {
        CAPTURE(inner);
        log.clear();
        double begin = now();
        Scope scope;
        scope.closeAfter(2);
        scope.spawn(later(&log, "a", 1.5));
        scope.spawn(nested(&log, inner));
        Future<Void> joined = keep(scope.join());
        loop.run(delay(4));
        REQUIRE(joined.isError());
        CHECK(joined.getError() == timed_out());
        CHECK(log == (inner == 1 ? "ia" : "!ai"));
        scope.spawn(later(&log, "x", 1));
        CHECK(log.back() == 'x');
        CHECK(now() == begin + 4);
    }
    {
        Scope failed;
        failed.closeAfter(1);
        failed.spawn(failing(0.5, io_error()));
        loop.run(delay(2));
        Future<Void> joined = keep(failed.join());
        CHECK(joined.getError() == io_error()); // the first error stays
    }
    log.clear();
    {
        Scope moved(OnError::Collect);
        moved.closeAfter(1);
        moved.closeAfter(3);
        moved.spawn(later(&log, "a", 2));
        loop.run(delay(2.5));
        moved.closeAfter(10);
    }
    CHECK(log == "!a");
    loop.run(delay(0));
    CHECK(!loop.hasWork());
}

TEST_CASE("scope cancel: a shielded child runs on after a cancel, within its time") {
    SimLoop loop;
    test::Balance balance;
    Log log;
    auto user = [](Scope* outer, Log* to) -> Future<Void> {
        struct Session {
            Scope* scope;
            Log* log;
            ~Session() { scope->shield(later(log, "r", 2), 5); }
        } session{outer, to};
        co_await delay(100);
    };
    {
        Scope scope(OnError::Collect);
        scope.spawn(user(&scope, &log));
        loop.run(delay(1));
        Future<bool> drained = scope.drain(1);
        loop.run(delay(2));
        CHECK(log.empty());
        CHECK(!drained.isReady());
        loop.run(delay(2));
        CHECK(log == "!r");
        CHECK(!drained.get());
        log.clear();
        scope.close();
        scope.shield([&log] { return later(&log, "c", 1); }, 5); // a closed scope takes it
        scope.shield(later(&log, "t", 9), 2);
        loop.run(keep(scope.join()));
        REQUIRE(scope.errors().size() == 1);
        CHECK(scope.errors()[0] == timed_out());
    }
    CHECK(log == "!ct");
    log.clear();
    {
        Scope scope(OnError::Collect);
        scope.shield(later(&log, "g", 1), 5);
    }
    CHECK(log.empty()); // the end of the Scope does not end the child
    loop.run(delay(2));
    CHECK(log == "!g");
}

TEST_CASE("scope cancel: a task that is cancelled ends after what it has shielded") {
    SimLoop loop;
    test::Balance balance;
    Log log;
    auto body = [](Context, Log* to) -> Task<> {
        Context here = co_await context();
        struct Session {
            Context here;
            Log* log;
            ~Session() { shield(here, later(log, "r", 2), 5); }
        } session{here, to};
        co_await delay(100);
    };
    auto parent = [body](Context, Log* to) -> Task<> {
        Scope scope(co_await context());
        scope.spawn(body(scope.context(), to));
        co_await delay(1);
        scope.cancel();
        co_await scope.join();
        *to += ".";
        co_await delay(1);
    };
    loop.run(start(parent(Environment(), &log)));
    CHECK(log == "!r.");
    CHECK(loop.now() == 4);
}

} // namespace
} // namespace scope_cancel
