// An exception that is no Error passes tasks, forks, generators and scopes as itself.

#include "flow/combine/timeout.h"
#include "flow/sim/sim_loop.h"
#include "flow/tasks/chain.h"
#include "flow/tasks/combine.h"
#include "flow/tasks/generator.h"
#include "flow/tasks/map_concurrent.h"
#include "flow/tasks/scope.h"
#include "flow/tasks/scope_of.h"
#include "tests/flow/support/foreign_exceptions.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

namespace foreign_exceptions_in_tasks_test { // its helpers have the names of those of other tests
namespace {
using namespace flow;
using namespace flow::test::foreign;

/// Tasks and forks that fail.
struct T {
    static Task<int> parse(Context, int position, double seconds = 0) {
        if (seconds != 0)
            co_await delay(seconds);
        throw ParseError(position);
    }
    static Fork<int> fork(Context, int position) {
        co_await delay(1);
        throw ParseError(position);
    }
    static Task<std::string> nested(Context, int position, double seconds) {
        Context here = co_await context();
        std::string position1, position2;
        auto failing = parse(here, position, seconds);
        try {
            co_await failing;
        } catch (ParseError const& e) {
            position1 = std::to_string(e.position);
        }
        CHECK(failing.error() == unknown_error());
        Fork<int> forked = fork(here, position + 1);
        try {
            co_await forked;
        } catch (ParseError const& e) {
            position2 = std::to_string(e.position);
        }
        auto other = parse(here, 5); // takes its block when a child has failed
        try {
            co_await other;
        } catch (ParseError const&) {
        }
        co_return position1 + " " + position2;
    }
    static Task<int> outer(Context, int position, double seconds) {
        Context here = co_await context();
        auto inner = parse(here, position, seconds);
        int value = co_await std::move(inner);
        co_return value;
    }
    static Task<int> combined(Context, int which, double seconds) {
        Context here = co_await context();
        if (which == 0) {
            auto both = co_await all(here, parse(here, 1, seconds), parse(here, 2, 5));
            co_return std::get<0>(both);
        }
        if (which == 1) {
            auto first = co_await race(here, parse(here, 1, seconds), delay(5));
            co_return static_cast<int>(first.index());
        }
        if (which == 2) {
            std::vector<Task<int>> children;
            children.push_back(parse(here, 3, seconds));
            children.push_back(parse(here, 4, 2));
            auto winners = co_await some(here, 1, std::move(children));
            co_return static_cast<int>(winners.size());
        }
        if (which == 3) {
            int value = co_await timeoutError(here, parse(here, 6, seconds), 5);
            co_return value;
        }
        int calls = 0;
        auto attempt = [&](Context c) { return parse(c, ++calls, seconds); };
        int value = co_await retry(here, RetryPolicy{.attempts = 3}, attempt);
        co_return value;
    }
};

TEST_CASE("foreign exceptions: through tasks and forks") {
    Nothing nothing;
    SimLoop loop;
    Environment environment;
    for (double seconds : {0.0, 1.0}) {
        CHECK(loop.run(start(T::nested(environment, 1, seconds))) == "1 2");
        CHECK(end(start(T::outer(environment, 7, seconds))) == "ParseError 7");
        CHECK(end(start(T::combined(environment, 0, seconds))) == "ParseError 1");
        CHECK(end(start(T::combined(environment, 1, seconds))) == "ParseError 1");
        CHECK(end(start(T::combined(environment, 2, seconds))) == "ParseError 4");
        CHECK(end(start(T::combined(environment, 3, seconds))) == "ParseError 6");
        CHECK(end(start(T::combined(environment, 4, seconds))) == "ParseError 3");
        CHECK(end(start(T::parse(environment, 8, seconds) | then([](int n) { return n; }))) == "ParseError 8");
        int code = 0;
        CHECK(end(start(T::parse(environment, 8, seconds) | onError([&](Error e) { code = e.code(); }))) ==
              "ParseError 8");
        CHECK(code == error_code_unknown_error);
    }
    {
        Task<int> dropped = T::parse(environment, 1);
        Task<int> failed = T::parse(environment, 2);
        CHECK(end(start(std::move(failed))) == "ParseError 2");
    }
    auto chained = [](Context) -> Task<int> { // a task with the memory of a task that has failed
        Context here = co_await context();
        auto failing = T::parse(here, 9);
        try {
            co_await failing;
        } catch (ParseError const&) {
        }
        auto next = std::move(failing) | onError([](Error) {});
        int value = co_await std::move(next);
        co_return value;
    };
    CHECK(end(start(chained(environment))) == "ParseError 9");
}

AsyncGenerator<int> numbers(Context) {
    co_yield 1;
    co_await delay(1);
    throw ParseError(2);
}
Task<int> readNumbers(Context) {
    Context here = co_await context();
    auto generated = numbers(here);
    int sum = 0;
    for (;;) {
        std::optional<int> next = co_await generated.next();
        if (!next)
            break;
        sum += *next;
    }
    co_return sum;
}

TEST_CASE("foreign exceptions: from generators") {
    Nothing nothing;
    SimLoop loop;
    Environment environment;
    CHECK(end(start(readNumbers(environment))) == "ParseError 2");
}

Task<int> parseTask(Context, int position) {
    co_await delay(1);
    throw ParseError(position);
}

TEST_CASE("foreign exceptions: through Scope") {
    Nothing nothing;
    SimLoop loop;
    Environment environment;
    auto joined = [](int which) -> Future<std::string> {
        Scope scope;
        if (which == 0)
            scope.spawn(parse(1)); // has failed already
        else if (which == 1)
            scope.spawn(parse(2, 1));
        else if (which == 2)
            scope.spawn(parseTask(scope.context(), 3));
        else if (which == 3)
            scope.spawn([] { return parse(4, 1); });
        else
            scope.spawn(timesOut(1));
        scope.spawn(parse(9, 3));
        std::string end = "none";
        try {
            co_await scope.join();
        } catch (ParseError const& e) {
            end = "ParseError " + std::to_string(e.position);
        } catch (Error const& e) {
            end = e.name();
        }
        co_return end + " " + std::to_string(scope.errors().size()) + " " + scope.errors()[0].name();
    };
    CHECK(loop.run(joined(0)) == "ParseError 1 1 unknown_error");
    CHECK(loop.run(joined(1)) == "ParseError 2 1 unknown_error");
    CHECK(loop.run(joined(2)) == "ParseError 3 1 unknown_error");
    CHECK(loop.run(joined(3)) == "ParseError 4 1 unknown_error");
    CHECK(loop.run(joined(4)) == "timed_out 1 timed_out");
    auto inTree = [](Context, int position) -> Task<int> {
        Scope scope(co_await context());
        scope.spawn(parseTask(scope.context(), position));
        co_await scope.join();
        co_return 1;
    };
    CHECK(end(start(inTree(environment, 4))) == "ParseError 4");
    auto collected = []() -> Future<std::string> {
        Scope scope(OnError::Collect);
        scope.spawn(parse(1, 1));
        scope.spawn(parse(2, 2));
        co_await scope.join();
        co_return std::to_string(scope.errors().size());
    };
    CHECK(loop.run(collected()) == "2");
    auto drained = []() -> Future<Void> {
        Scope scope;
        scope.spawn(parse(6, 1));
        scope.spawn(delay(3));
        Future<bool> ended = scope.drain(5);
        co_await ended;
    };
    CHECK(end(drained()) == "ParseError 6");
}

TEST_CASE("foreign exceptions: through ScopeOf and mapConcurrent()") {
    Nothing nothing;
    SimLoop loop;
    for (double seconds : {0.0, 1.0}) {
        auto results = [](double after, bool throws) -> Future<int> {
            ScopeOf<int> scope;
            scope.spawn([after, throws]() -> Future<int> {
                if (throws)
                    throw ParseError(11);
                return parse(12, after);
            });
            scope.spawn(parse(13, 5));
            auto next = co_await scope.next();
            co_return next->value();
        };
        CHECK(end(results(seconds, false)) == "ParseError 12");
        CHECK(end(results(seconds, true)) == "ParseError 11");
        auto each = [seconds](int n) { return n == 2 ? parse(n, seconds) : delayed(Future<int>(n), 2); };
        CHECK(end(mapConcurrent(std::vector{0, 1, 2, 3, 4}, 2, each)) == "ParseError 2");
        Future<std::vector<ErrorOr<int>>> all = mapConcurrent<ErrorOr<int>>(std::vector{1, 2}, 2, each);
        CHECK(loop.run(all)[1].getError() == unknown_error());
    }
}

} // namespace
} // namespace foreign_exceptions_in_tasks_test
