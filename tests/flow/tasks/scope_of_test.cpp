#include "flow/tasks/scope_of.h"

#include "flow/combine/map.h"
#include "flow/combine/race.h"
#include "flow/core/stream.h"
#include "flow/sim/sim_loop.h"
#include "flow/tasks/task.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/cancel_everywhere.h"
#include "tests/flow/support/death.h"
#include "tests/flow/support/failures.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>

namespace scope_of_test { // its helpers have the names of those of other tests
namespace {
using namespace flow;

Future<int> numberAfter(int n, double seconds) {
    co_await delay(seconds);
    co_return n;
}
Future<int> errorAfter(Error error, double seconds) {
    co_await delay(seconds);
    throw error;
}
Task<int> numberTask(Context, int n) {
    co_await delay(n);
    co_return n;
}

/// Writes each result with its index and time, and how the results end.
template <class T>
Future<std::string> allOf(ScopeOf<T>* scope) {
    std::string text;
    try {
        for (;;) {
            std::optional<Winner<T>> next = co_await scope->next();
            if (!next)
                break;
            text += std::to_string(next->index());
            if constexpr (std::is_same_v<T, ErrorOr<int>>)
                text += next->value().isError() ? ":error" : ":" + std::to_string(next->value().get());
            else
                text += ":" + std::to_string(next->value());
            text += "@" + std::to_string(static_cast<int>(now())) + " ";
        }
        text += "end";
    } catch (Error& error) {
        text += error.name();
    }
    co_return text;
}

TEST_CASE("ScopeOf: the results come as the children end, or as they were spawned") {
    for (ResultOrder order : {ResultOrder::Finished, ResultOrder::Started}) {
        SimLoop loop;
        test::Balance balance;
        ScopeOf<int> scope(order);
        CHECK(loop.run(allOf(&scope)) == "end");
        scope.spawn(numberAfter(5, 3));
        scope.spawn(numberTask(Environment(), 2));
        scope.spawn([] { return numberAfter(6, 1); });
        scope.spawn(Future<int>(7));
        CHECK(scope.size() == 4);
        std::string text = loop.run(allOf(&scope));
        CHECK(text == (order == ResultOrder::Finished ? "3:7@0 2:6@1 1:2@2 0:5@3 end" : "0:5@3 1:2@3 2:6@3 3:7@3 end"));
        CHECK(scope.size() == 0);
        scope.spawn(numberAfter(8, 1));
        CHECK(loop.run(allOf(&scope)) == "4:8@4 end");
    }
}

TEST_CASE("ScopeOf: a next() or a room() that loses a race has taken nothing") {
    SimLoop loop;
    test::Balance balance;
    ScopeOf<std::unique_ptr<int>> scope;
    auto loses = [](ScopeOf<std::unique_ptr<int>>* results, double seconds) -> Future<std::size_t> {
        auto first = co_await race(delay(seconds), results->next(), results->room(1));
        co_return first.index();
    };
    scope.spawn([] { return map(numberAfter(7, 2), [](int n) { return std::make_unique<int>(n); }); });
    CHECK(loop.run(loses(&scope, 1)) == 0);
    CHECK(loop.run(loses(&scope, 0)) == 0);
    Future<std::size_t> dropped = loses(&scope, 9);
    dropped = {};
    loop.run(delay(2));
    CHECK(scope.size() == 1);
    CHECK(loop.run(loses(&scope, 9)) == 1);
    CHECK(loop.run(loses(&scope, 9)) == 1); // the end
}

TEST_CASE("ScopeOf: a room() goes on when one before it, for less room, has left") {
    SimLoop loop;
    test::Balance balance;
    loop.run([]() -> Future<Void> {
        ScopeOf<Void> scope;
        for (int i = 0; i < 3; ++i)
            scope.spawn(delay(100));
        Future<Void> first = keep(scope.room(1));
        Future<Void> second = keep(scope.room(5));
        co_await delay(1);
        first = {};
        co_await delay(1);
        CHECK(second.isReady());
    }());
}

TEST_CASE("ScopeOf: several may wait for results, oldest first") {
    SimLoop loop;
    test::Balance balance;
    ScopeOf<int> scope;
    scope.spawn(numberAfter(1, 1));
    scope.spawn(numberAfter(2, 1));
    auto first = keep(scope.next());
    auto second = keep(scope.next());
    auto third = keep(scope.next());
    loop.run(delay(2));
    CHECK(first.get()->value() == 1);
    CHECK(second.get()->value() == 2);
    CHECK_FALSE(third.get().has_value());
}

TEST_CASE("ScopeOf: the first error ends the rest, or is a result") {
    SimLoop loop;
    test::Balance balance;
    ScopeOf<int> scope;
    scope.spawn(numberAfter(1, 1));
    scope.spawn(errorAfter(timed_out(), 2));
    scope.spawn(numberAfter(3, 3));
    CHECK(loop.run(allOf(&scope)) == "0:1@1 timed_out");
    CHECK_FALSE(loop.hasWork());
    scope.spawn([]() -> Future<int> { throw io_error(); }); // does not begin
    CHECK(loop.run(allOf(&scope)) == "timed_out");
    CHECK_THROWS_AS(loop.run(keep(scope.room(1))), Error);

    ScopeOf<ErrorOr<int>> collects;
    collects.spawn(numberAfter(1, 1));
    collects.spawn(errorAfter(timed_out(), 2));
    collects.spawn([]() -> Future<ErrorOr<int>> { return ErrorOr<int>(io_error()); });
    collects.spawn(numberAfter(3, 3));
    CHECK(loop.run(allOf(&collects)) == "2:error@2 0:1@3 1:error@4 3:3@5 end");
}

TEST_CASE("ScopeOf: room() bounds what a loop of its own spawns") {
    SimLoop loop;
    test::Balance balance;
    auto sumOf = [](int numbers) -> Future<int> {
        ScopeOf<int> scope;
        int sum = 0;
        for (int n = 0; n < numbers;) {
            auto first = co_await race(scope.room(3), scope.next());
            if (first.index() == 0)
                scope.spawn(numberAfter(n++, 1));
            else
                sum += std::get<1>(first)->value();
            CHECK(scope.size() <= 3);
        }
        for (;;) {
            std::optional<Winner<int>> next = co_await scope.next();
            if (!next)
                break;
            sum += next->value();
        }
        co_return sum;
    };
    CHECK(loop.run(sumOf(10)) == 45);
    CHECK(loop.now() == 4);
}

TEST_CASE("ScopeOf: a range as the results finish, with a slow reader") {
    SimLoop loop;
    test::Balance balance;
    int begun = 0;
    ScopeOf calls(std::vector{3, 1, 2, 1}, 2, [&](int n) {
        ++begun;
        return numberAfter(n, n);
    });
    static_assert(std::is_same_v<decltype(calls), ScopeOf<int>>);
    loop.run(delay(10));
    CHECK(begun == 2); // each result that waits has the place of its call
    CHECK(loop.run(allOf(&calls)) == "1:1@10 0:3@10 3:1@11 2:2@12 end");
}

TEST_CASE("ScopeOf: its end cancels the children, and fails its waiters") {
    SimLoop loop;
    test::Balance balance;
    auto scope = std::make_unique<ScopeOf<int>>(std::views::iota(0, 9), 3, [](int n) { return numberAfter(n, 1); });
    (void)loop.run(keep(scope->next()));
    Future<std::string> reading = allOf(scope.get());
    loop.run(delay(1));
    scope.reset();
    CHECK(loop.run(reading).ends_with("broken_promise"));
    CHECK_FALSE(loop.hasWork());
}

TEST_CASE("ScopeOf: a child may destroy it as it ends") {
    SimLoop loop;
    test::Balance balance;
    std::unique_ptr<ScopeOf<int>> scope = std::make_unique<ScopeOf<int>>();
    struct Destroys {
        std::unique_ptr<ScopeOf<int>>* scope;
        ~Destroys() { scope->reset(); }
    };
    auto child = [](std::unique_ptr<ScopeOf<int>>* mine, bool fails) -> Future<int> {
        Destroys destroys{mine};
        co_await delay(1);
        if (fails)
            throw timed_out();
        co_return 1;
    };
    DroppedErrorHandler before = setDroppedErrorHandler([](const char*, Error) {}); // of the child that fails
    for (bool fails : {false, true}) {
        scope = std::make_unique<ScopeOf<int>>();
        scope->spawn(child(&scope, fails));
        scope->spawn(numberAfter(1, 2));
        loop.run(delay(3));
        CHECK_FALSE(scope);
    }
    setDroppedErrorHandler(before);
}

TEST_CASE("ScopeOf: a child may spawn another one, or destroy the ScopeOf, before it first waits") {
    SimLoop loop;
    test::Balance balance;
    auto scope = std::make_unique<ScopeOf<int>>();
    scope->spawn([&] {
        scope->spawn([] { return numberAfter(1, 1); });
        return numberAfter(2, 1);
    });
    CHECK(loop.run(allOf(scope.get())) == "1:1@1 0:2@1 end");
    scope->spawn([&] {
        scope->spawn([&] {
            scope.reset();
            return numberAfter(1, 1);
        });
        return numberAfter(2, 1);
    });
    CHECK_FALSE(scope);
    CHECK_FALSE(loop.hasWork());
}

TEST_CASE("ScopeOf: a child that nothing can cancel outlives it") {
    SimLoop loop;
    test::Balance balance;
    auto runsOn = [](Uncancellable, bool* ended) -> Future<int> {
        co_await delay(1);
        *ended = true;
        co_return 1;
    };
    bool ended = false;
    {
        ScopeOf<int> scope;
        scope.spawn(runsOn({}, &ended));
    }
    loop.run(delay(2));
    CHECK(ended);
}

TEST_CASE("ScopeOf: misuse names its caller") {
    SimLoop loop;
    ScopeOf<int> scope;
    CHECK_DIES((void)scope.room(0), "wait forever");
    CHECK_NAMES_CALLER((void)scope.room(0));
    CHECK_NAMES_CALLER(scope.spawn(Future<int>()));
    CHECK_NAMES_CALLER(ScopeOf<int> none(std::vector{1}, 0, [](int n) { return Future<int>(n); }));
}

TEST_CASE("ScopeOf can be cancelled at each step") {
    for (ResultOrder order : {ResultOrder::Finished, ResultOrder::Started}) {
        test::cancelEverywhere("ScopeOf",
                               [order](test::Inputs& in) {
                                   auto reads = [](ResultOrder how, Future<int> a, Future<int> b, Future<int> c,
                                                   test::Sentinel) -> Future<int> {
                                       ScopeOf<int> scope(how);
                                       scope.spawn(std::move(a));
                                       scope.spawn(std::move(b));
                                       scope.spawn(std::move(c));
                                       int sum = 0;
                                       for (;;) {
                                           std::optional<Winner<int>> next = co_await scope.next();
                                           if (!next)
                                               break;
                                           sum += next->value();
                                       }
                                       co_return sum;
                                   };
                                   return reads(order, in.number(0), in.number(1), in.number(2), in.sentinel());
                               },
                               {.hasHandlers = true});
    }
}

TEST_CASE("ScopeOf: each allocation fails once") {
    SimLoop loop;
    CHECK(test::failEverywhere([] {
              Promise<int> promise;
              ScopeOf<int> scope;
              auto first = keep(scope.next());
              first = keep(scope.next());
              scope.spawn(promise.getFuture());
              auto next = keep(scope.next());
              promise.send(1);
              Loop::current().run(delay(1));
              test::expect(next.isReady());
          }) > 3);
}

} // namespace
} // namespace scope_of_test
