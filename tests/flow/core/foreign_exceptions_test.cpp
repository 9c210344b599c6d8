// An exception that is no Error passes futures as itself, in coroutines and fibers, and through what combines them.
// tests/programs/catches.actor.cpp has the actors.

#include "flow/combine/all.h"
#include "flow/combine/errors.h"
#include "flow/combine/forward.h"
#include "flow/combine/map.h"
#include "flow/combine/race.h"
#include "flow/combine/retry.h"
#include "flow/combine/timeout.h"
#include "flow/coro/from_awaitable.h"
#include "flow/fiber/fiber.h"
#include "flow/loop/real_loop.h"
#include "flow/sim/sim_loop.h"
#include "flow/threads/loop_pool.h"
#include "flow/threads/on_loop.h"
#include "flow/threads/run_blocking.h"
#include "flow/wait/yielded.h"
#include "tests/flow/support/foreign_exceptions.h"

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace foreign_exceptions_test { // the helpers that it uses have the names of those of other tests
namespace {
using namespace flow;
using namespace flow::test::foreign;

TEST_CASE("foreign exceptions: they pass coroutines as themselves") {
    Nothing nothing;
    SimLoop loop;
    for (double seconds : {0.0, 1.0}) {
        CHECK(end(parse(7, seconds)) == "ParseError 7");
        CHECK(end(passOn(parse(8, seconds))) == "ParseError 8");
        CHECK(end(passOnByThrow(parse(9, seconds))) == "ParseError 9");
        CHECK(end(passOn(passOnByThrow(passOn(passOn(parse(3, seconds)))))) == "ParseError 3");
        CHECK(end(passOn(timesOut(seconds))) == "timed_out");
    }
    auto throwsInt = []() -> Future<int> {
        co_await delay(1);
        throw 5;
    };
    CHECK(end(passOn(throwsInt())) == "int 5");
    auto runsOut = []() -> Future<int> {
        co_await delay(1);
        throw std::bad_alloc();
    };
    CHECK(end(passOn(runsOut())) == std::string("exception ") + std::bad_alloc().what());
}

TEST_CASE("foreign exceptions: get() and run() throw them, and catch (Error&) does not take them") {
    Nothing nothing;
    SimLoop loop;
    Future<int> future = parse(4);
    CHECK_THROWS_AS((void)future.get(), ParseError);
    CHECK_THROWS_AS((void)std::move(future).takeValue(), ParseError);
    CHECK_THROWS_AS((void)loop.run(parse(4, 1)), ParseError);
    bool isError = false, isParseError = false;
    try {
        (void)loop.run(parse(4, 1));
    } catch (Error&) {
        isError = true;
    } catch (ParseError& e) {
        isParseError = e.position == 4;
    }
    CHECK(!isError);
    CHECK(isParseError);
}

TEST_CASE("foreign exceptions: getError() and currentError() give unknown_error with a sentence") {
    Nothing nothing;
    SimLoop loop;
    Future<int> future = passOn(parse(4));
    CHECK(future.isError());
    CHECK(future.getError() == unknown_error());
    std::string said = future.getError().what();
    CHECK(said.find("ParseError: bad input") != std::string::npos);
    auto asked = [](Future<int> what) -> Future<std::string> {
        ErrorOr<int> result = co_await tryGet(what);
        try {
            (void)result.get();
        } catch (Error const& e) {
            co_return e.name();
        }
        co_return "";
    };
    CHECK(loop.run(asked(future)) == "unknown_error");
    auto current = [](Future<int> what) -> Future<std::string> {
        try {
            co_await what;
        } catch (...) {
            co_return currentError().what();
        }
        co_return "";
    };
    CHECK(loop.run(current(future)) == said);
    CHECK(loop.run(errorOr(future)).getError() == unknown_error());
    Promise<int> promise; // an Error that is sent is an Error
    promise.sendError(future.getError());
    CHECK(end(promise.getFuture()) == "unknown_error");
}

TEST_CASE("foreign exceptions: several waiters of one future get the same object") {
    Nothing nothing;
    SimLoop loop;
    std::vector<ParseError const*> seen;
    auto see = [&](Future<int> what) -> Future<Void> {
        try {
            co_await what;
        } catch (ParseError const& e) {
            seen.push_back(&e);
        }
    };
    {
        Future<int> future = parse(1, 1);
        Future<int> passed = passOn(future);
        Future<Void> a = see(future), b = see(future), c = see(passed), d = see(passed);
        future = passed = Future<int>();
        loop.run(a && b && c && d);
    }
    REQUIRE(seen.size() == 4);
    for (ParseError const* each : seen)
        CHECK(each == seen[0]);
}

TEST_CASE("foreign exceptions: the exception lives as long as a future that has failed with it") {
    Nothing nothing;
    int before = alive;
    std::optional<SimLoop> loop(std::in_place);
    Future<int> first = parse(2, 1);
    Future<int> second = passOn(first);
    CHECK_THROWS_AS((void)loop->run(second), ParseError);
    loop.reset();
    CHECK(alive == before + 1);
    first = Future<int>();
    CHECK(alive == before + 1);
    CHECK_THROWS_AS((void)second.get(), ParseError); // without a loop
    second = Future<int>();
    CHECK(alive == before);
}

TEST_CASE("foreign exceptions: many at a time, and none is mistaken for another") {
    Nothing nothing;
    SimLoop loop;
    bool reported = setUnreadErrorReports(false);
    std::vector<Future<int>> all;
    for (int i = 0; i < 3000; ++i)
        all.push_back(i % 3 == 0 ? passOn(parse(i, 1)) : parse(i, 1));
    loop.run(delay(2));
    for (int i = 1; i < 3000; i += 2)
        all[i] = parse(-i); // in the memory that the old ones leave
    for (int i = 0; i < 3000; ++i) {
        int position = 0;
        try {
            (void)all[i].get();
        } catch (ParseError const& e) {
            position = e.position;
        }
        if (position != (i % 2 == 1 ? -i : i))
            CHECK(position == i);
    }
    CHECK(alive >= 3000);
    all.clear();
    Future<int> failed = timesOut();
    CHECK(end(passOn(failed)) == "timed_out");
    CHECK(end(passOn(Future<int>(unknown_error()))) == "unknown_error");
    (void)setUnreadErrorReports(reported);
}

TEST_CASE("foreign exceptions: a cell that has had one fails with a later Error") {
    Nothing nothing;
    SimLoop loop;
    auto twice = [](Future<int> first, Future<int> second) -> Future<int> {
        (void)co_await coro::tryKeeping(first);
        ErrorOr<int> two = co_await coro::tryKeeping(second);
        co_await coro::fail(two.getError());
        co_return 0;
    };
    CHECK(end(twice(parse(1), parse(2))) == "ParseError 2");
    CHECK(end(twice(parse(1), timesOut())) == "timed_out");
    CHECK(end(twice(parse(1), Future<int>(unknown_error()))) == "unknown_error");
    CHECK(end(twice(timesOut(), parse(3, 1))) == "ParseError 3");
}

TEST_CASE("foreign exceptions: through all, some, race, && and ||") {
    Nothing nothing;
    SimLoop loop;
    for (double seconds : {0.0, 1.0}) {
        CHECK(end(all(parse(1, seconds), Future<int>(2))) == "ParseError 1");
        CHECK(end(all(parse(1, seconds), parse(2, 2))) == "ParseError 1");
        CHECK(end(all(parse(1, 2), parse(2, seconds))) == "ParseError 2");
        CHECK(end(all(std::vector{parse(3, 2), parse(4, seconds)})) == "ParseError 4");
        CHECK(end(some(1, std::vector{parse(5, seconds), parse(6, 2)})) == "ParseError 6");
        CHECK(end(some(1, std::vector{parse(5, seconds), timesOut(2)})) == "timed_out");
        CHECK(end(some(1, std::vector{timesOut(seconds), parse(5, 2)})) == "ParseError 5");
        CHECK(end(race(parse(7, seconds), delay(2))) == "ParseError 7");
        CHECK(end(race(parse(7, seconds), delay(2)).future()) == "ParseError 7");
        CHECK(end(race(std::vector{parse(7, seconds), parse(8, 2)})) == "ParseError 7");
        CHECK(end(parse(1, seconds) && delay(2)) == "ParseError 1");
        CHECK(end(parse(1, seconds) || delay(2)) == "ParseError 1");
        CHECK(end(success(parse(1, seconds))) == "ParseError 1");
        CHECK(end(yieldedFuture(success(parse(1, seconds)))) == "ParseError 1");
    }
    Future<Void> both = parse(1, 1) && delay(5); // decided, and one input runs on
    CHECK(end(both) == "ParseError 1");
    CHECK(!end(both).empty());
    loop.run(delay(6));
    CHECK(end(both) == "ParseError 1");
}

TEST_CASE("foreign exceptions: through timeouts, retry() and other functions of futures") {
    Nothing nothing;
    SimLoop loop;
    for (double seconds : {0.0, 1.0}) {
        CHECK(end(timeout(parse(1, seconds), 5)) == "ParseError 1");
        CHECK(end(timeout(parse(1, seconds), 5, 0)) == "ParseError 1");
        CHECK(end(timeoutError(parse(1, seconds), 5)) == "ParseError 1");
        CHECK(end(timeoutError(parse(1, 5), 0.5)) == "timed_out");
        CHECK(end(delayed(parse(2, seconds), 1)) == "ParseError 2");
        CHECK(end(map(parse(2, seconds), [](int n) { return n; })) == "ParseError 2");
        CHECK(end(map(Future<int>(3), [](int n) -> int { throw ParseError(n); })) == "ParseError 3");
        CHECK(end(reportErrors(parse(4, seconds), "Test")) == "ParseError 4");
        CHECK(end(brokenPromiseToNever(parse(4, seconds))) == "ParseError 4");
        CHECK(end(waitOrError(parse(4, seconds), Never())) == "ParseError 4");
        CHECK(end(waitOrError(Future<int>(Never()), success(parse(5, seconds)))) == "ParseError 5");
        Promise<int> forwarded;
        Future<int> forwardedTo = forwarded.getFuture();
        forwardPromise(forwarded, parse(6, seconds));
        CHECK(end(forwardedTo) == "ParseError 6");
        int calls = 0;
        CHECK(end(retry(RetryPolicy{.attempts = 3}, [&] { return parse(++calls, seconds); })) == "ParseError 3");
        calls = 0;
        auto throwsItself = [&]() -> Future<int> { throw ParseError(++calls); };
        CHECK(end(retry(RetryPolicy{.attempts = 2}, throwsItself)) == "ParseError 2");
    }
}

TEST_CASE("foreign exceptions: from fibers, and in them") {
    Nothing nothing;
    {
        SimLoop loop;
        for (double seconds : {0.0, 1.0}) {
            auto fails = [seconds] {
                fiber::wait(delay(seconds));
                throw ParseError(3);
            };
            CHECK(end(fiber::spawn(fails)) == "ParseError 3");
            Future<std::string> caught = fiber::spawn([seconds] {
                std::string text;
                auto note = [&](auto function) {
                    try {
                        function();
                    } catch (ParseError const& e) {
                        text += std::to_string(e.position);
                    } catch (Error const& e) {
                        text += e.name();
                    }
                };
                note([&] { fiber::wait(parse(1, seconds)); });
                note([&] { fiber::wait(passOn(parse(2, seconds))); });
                note([&] { fiber::wait(race(parse(3, seconds), delay(3))); });
                note([&] { fiber::wait(all(parse(4, seconds), delay(3))); });
                note([&] { fiber::wait(timesOut(seconds)); });
                return text;
            });
            CHECK(loop.run(caught) == "1234timed_out");
        }
    }
}

TEST_CASE("foreign exceptions: cancels, and failures that are not read") {
    Nothing nothing;
    SimLoop loop;
    bool reported = setUnreadErrorReports(false);
    for (int cancelAt : {0, 1, 2}) {
        auto works = [](int* ended) -> Future<int> {
            struct End {
                int* ended;
                ~End() { ++*ended; }
            } end{ended};
            ErrorOr<int> first = co_await coro::tryKeeping(parse(1, 0.5));
            co_await delay(1);
            co_await coro::fail(first.getError());
            co_return 0;
        };
        int ended = 0;
        Future<int> work = works(&ended);
        Future<int> behind = passOn(work);
        work = Future<int>();
        loop.run(delay(cancelAt * 0.75));
        behind.cancel();
        CHECK(ended == 1);
        CHECK(behind.isError());
    }
    { // a handler that throws something else when it is cancelled
        auto stubborn = []() -> Future<int> {
            try {
                co_await delay(5);
            } catch (Error&) {
                throw ParseError(8);
            }
            co_return 0;
        };
        Future<int> cancelled = stubborn();
        cancelled.cancel();
        CHECK(end(cancelled) == "ParseError 8");
    }
    for (double seconds : {0.0, 1.0}) {
        Future<int> unread = passOn(parse(1, seconds));
        loop.run(delay(2));
    }
    { // the value was made, and then a destructor threw
        auto fails = []() -> Future<std::shared_ptr<int>> {
            struct Throws {
                ~Throws() noexcept(false) { throw ParseError(6); }
            } throws;
            co_return std::make_shared<int>(5);
        };
        CHECK(end(fails()) == "ParseError 6");
    }
    (void)setUnreadErrorReports(reported);
}

TEST_CASE("foreign exceptions: a chain of any length") {
    Nothing nothing;
    SimLoop loop;
    Promise<Void> go;
    auto fails = [](Future<Void> ready) -> Future<int> {
        co_await ready;
        throw ParseError(5);
    };
    Future<int> chain = fails(go.getFuture());
    for (int i = 0; i < 10'000; ++i)
        chain = passOn(std::move(chain));
    go.send(Void());
    CHECK(end(std::move(chain)) == "ParseError 5");
}

TEST_CASE("foreign exceptions: an exception whose destructor drops the last future of another") {
    Nothing nothing;
    SimLoop loop;
    struct Owning {
        Future<int> other;
    };
    auto throwsOwning = [](Future<int> other) -> Future<int> {
        co_await delay(1);
        throw Owning{std::move(other)};
    };
    Future<int> inner = parse(1);
    CHECK_THROWS_AS((void)inner.get(), ParseError);
    Future<int> outer = throwsOwning(std::move(inner));
    loop.run(delay(2));
    (void)outer.isError();
    outer = throwsOwning(std::move(outer));
    loop.run(delay(2));
    CHECK_THROWS_AS((void)outer.get(), Owning);
}

TEST_CASE("foreign exceptions: from other threads, and from awaitables of other libraries") {
    int before = alive;
    {
        RealLoop loop;
        LoopPool pool(1);
        CHECK(end(onLoop(pool[0], []() -> int { throw ParseError(1); })) == "ParseError 1");
        CHECK(end(onLoop(pool[0], [] { return parse(2); })) == "ParseError 2");
        CHECK(end(onLoop(pool[0], [] { return parse(3, 0.001); })) == "ParseError 3");
        CHECK(end(onLoop(pool[0], []() -> int { throw timed_out(); })) == "timed_out");
        CHECK(end(runBlocking([]() -> int { throw ParseError(4); })) == "ParseError 4");
        CHECK(end(runBlocking([]() -> int { throw unknown_error(); })) == "unknown_error");
        struct Awaitable : std::suspend_never {
            int await_resume() const { throw ParseError(5); }
        };
        CHECK(end(fromAwaitable(Awaitable())) == "ParseError 5");
        for (int i = 0; i < 5; ++i) {
            Future<int> dropped = runBlocking([]() -> int { throw ParseError(6); });
            Future<int> alsoDropped = onLoop(pool[0], []() -> int { throw ParseError(6); });
        }
    }
    CHECK(alive == before);
}

TEST_CASE("foreign exceptions: two threads with their loops") {
    Nothing nothing;
    auto work = [](int* good) {
        RealLoop loop;
        for (int i = 0; i < 300; ++i)
            *good += end(passOn(parse(i, i % 10 == 0 ? 1e-5 : 0))) == "ParseError " + std::to_string(i);
    };
    int a = 0, b = 0;
    std::thread other(work, &a);
    work(&b);
    other.join();
    CHECK(a == 300);
    CHECK(b == 300);
}

} // namespace
} // namespace foreign_exceptions_test
