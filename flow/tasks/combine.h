#pragma once
// all(), race(), some(), timeout() and retry() with a Context as first argument: each makes a task with children.
//
//     auto [page, user] = co_await all(here, loadPage(here, key), loadUser(here, id));
//     std::pmr::vector<int> sums = co_await all(here, std::move(tasks));           // std::vector<Task<int>>
//     auto first = co_await race(here, loadPage(here, key), delay(1.0));           // a RaceResult
//     Winner<int> fastest = co_await race(here, std::move(tasks));
//     std::pmr::vector<Winner<int>> two = co_await some(here, 2, std::move(tasks));
//     Page page = co_await timeoutError(here, loadPage(here, key), 0.5);           // fails with timed_out after 0.5 s
//     Optional<Page> page = co_await timeout(here, loadPage(here, key), 0.5);      // empty after 0.5 s
//     Page page = co_await retry(here, {.attempts = 5}, [&](Context attempt) { return loadPage(attempt, key); });
//
// `here` is the result of `co_await context()`, and gives the memory. Each function makes a task with the operands as
// children. Rules and results are as in flow/combine (race.h, all.h, timeout.h, retry.h). All operands run at the same
// time. A time limit counts from the beginning of the task. When the result is decided, running operands are cancelled,
// and operands that have not begun never begin. The task ends when all operands have ended. If an operand is a fork or
// a future, the cancel only ends the wait for it and drops the handle. Nested races need the Context: race(here, a, b).

#include "flow/base/optional.h"
#include "flow/combine/retry.h"
#include "flow/tasks/detail/decision.h"
#include "flow/wait/delay.h"
#include "flow/wait/race_result.h"

#include <tuple>
#include <vector>

namespace flow {

/// Returns all values, in order. Fails with the first error.
template <CanBeAwaited... X>
    requires(sizeof...(X) != 0)
Task<std::tuple<AwaitedValue<X>...>> all(tasks::PlacedContext place, X... operands) {
    Context here = co_await context();
    tasks::Pack<X...> children(here, place.caller, sizeof...(X) + 1); // more than all: only an error decides
    children.startAll(operands...);
    co_await destroyForks();
    co_return std::apply([](auto&... each) { return std::tuple<AwaitedValue<X>...>(std::move(*each)...); },
                         children.results());
}
template <OperandRange R, class T = AwaitedValue<OperandIn<R>>>
Task<std::pmr::vector<T>> all(tasks::PlacedContext place, R operands) {
    Context here = co_await context();
    std::size_t count = std::size(operands);
    tasks::Range<T> children(here, place.caller, count + 1, 0, count, here.allocator());
    children.startAll(operands);
    co_await destroyForks();
    std::pmr::vector<T> values(here.allocator());
    values.reserve(count);
    for (auto& result : children.results())
        values.push_back(std::move(*result));
    co_return values;
}

/// Returns the value of the operand that ends first, or fails with the error of this operand.
template <CanBeAwaited... X>
    requires(sizeof...(X) != 0)
Task<RaceResult<AwaitedValue<X>...>> race(tasks::PlacedContext place, X... operands) {
    Context here = co_await context();
    tasks::Pack<X...> children(here, place.caller, 1);
    children.startAll(operands...);
    co_await destroyForks();
    co_return tasks::winnerOf(children);
}
template <OperandRange R, class T = AwaitedValue<OperandIn<R>>>
Task<Winner<T>> race(tasks::PlacedContext place, R operands) {
    Context here = co_await context();
    if (std::size(operands) == 0)
        co_await Never();
    tasks::Range<T> children(here, place.caller, 1, 0, std::size(operands), here.allocator());
    children.startAll(operands);
    co_await destroyForks();
    auto& results = children.results();
    std::size_t index = children.winner();
    co_return Winner<T>(index, std::move(*results[index]));
}

/// Returns the `count` values that come first, sorted by index. Throws client_invalid_operation for fewer operands.
template <OperandRange R, class T = AwaitedValue<OperandIn<R>>>
Task<std::pmr::vector<Winner<T>>> some(tasks::PlacedContext place, std::size_t count, R operands) {
    std::size_t most = std::size(operands);
    if (count > most)
        throw combine::tooFew(count, most);
    Context here = co_await context();
    tasks::Range<T> children(here, place.caller, count, most - count, most, here.allocator());
    children.startAll(operands);
    co_await destroyForks();
    std::pmr::vector<Winner<T>> values(here.allocator());
    values.reserve(count);
    auto& results = children.results();
    for (std::size_t i = 0; i < results.size(); ++i)
        if (results[i])
            values.emplace_back(i, std::move(*results[i]));
    co_return values;
}

namespace tasks {
template <class Result, class X, class Late>
Task<Result> limited(PlacedContext place, X operand, Seconds seconds, Late late, ExplicitVoid = {}) {
    Context here = co_await context();
    Delay limit = delay(seconds);
    Pack<X, Delay> children(here, place.caller, 1);
    children.startAll(operand, limit);
    co_await destroyForks();
    auto first = winnerOf(children);
    if (first.index() == 1)
        co_return late();
    co_return std::get<0>(std::move(first));
}
} // namespace tasks

/// Returns the operand's value, or `otherwise` if the value takes longer than `seconds`.
template <CanBeAwaited X>
Task<AwaitedValue<X>> timeout(tasks::PlacedContext here, X operand, Seconds seconds,
                              std::type_identity_t<AwaitedValue<X>> otherwise) {
    return tasks::limited<AwaitedValue<X>>(here, std::move(operand), seconds,
                                           [value = std::move(otherwise)]() mutable { return std::move(value); });
}
/// Returns the operand's value, or nothing if the value takes longer than `seconds`.
template <CanBeAwaited X>
Task<Optional<AwaitedValue<X>>> timeout(tasks::PlacedContext here, X operand, Seconds seconds) {
    using Result = Optional<AwaitedValue<X>>;
    return tasks::limited<Result>(here, std::move(operand), seconds, [] { return Result(); });
}
/// Returns the operand's value. Fails with timed_out if the value takes longer than `seconds`.
template <CanBeAwaited X>
Task<AwaitedValue<X>> timeoutError(tasks::PlacedContext here, X operand, Seconds seconds) {
    return tasks::limited<AwaitedValue<X>>(here, std::move(operand), seconds,
                                           []() -> AwaitedValue<X> { throw timed_out(); });
}

namespace tasks {
template <class F>
auto attempt(F& function, Context here) {
    if constexpr (std::is_invocable_v<F&, Context>)
        return function(here);
    else
        return function();
}
} // namespace tasks

/// Calls `function`, and awaits its result. After a failure, calls `function` again if `policy` allows it. `function`
/// may take the context of the task of retry(). It returns a task or another operand.
template <class F, class X = decltype(tasks::attempt(std::declval<F&>(), std::declval<Context>()))>
    requires CanBeAwaited<X>
Task<AwaitedValue<X>> retry(Context, RetryPolicy policy, F function, ExplicitVoid = {},
                            std::source_location caller = std::source_location::current()) {
    policy.check(caller);
    Context here = co_await context();
    for (int failed = 0;;) {
        try {
            X attempt = tasks::attempt(function, here);
            if constexpr (requires { X::kIsTask; }) { // a child of this task
                AwaitedValue<X> value = co_await std::move(attempt);
                co_return value;
            } else {
                auto made = combine::futureOf(std::move(attempt));
                AwaitedValue<X> value = co_await std::move(made);
                co_return value;
            }
        } catch (...) {
            if (!policy.continuesAfter(++failed, currentError()))
                throw;
        }
        co_await delay(policy.secondsAfter(failed));
    }
}

} // namespace flow
