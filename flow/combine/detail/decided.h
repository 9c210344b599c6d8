#pragma once
// The common parts of race(), all() and some(). Programs include flow/combine/race.h or flow/combine/all.h.

#include "flow/combine/quorum.h"
#include "flow/coro/coroutine.h"
#include "flow/wait/operand.h"

#include <source_location>
#include <vector>

namespace flow {
namespace combine {

/// Waits for a race, which this coroutine owns, and returns its result.
template <class Result, class Race>
Future<Result> finish(Race race, Propagate = {}) {
    auto first = co_await race;
    if constexpr (std::is_same_v<Result, typename Race::Value>)
        co_return std::move(first);
    else
        co_return std::move(first).variant();
}

template <class T>
Future<T> next(FutureStream<T> stream, ExplicitVoid = {}, Propagate = {}) {
    T value = co_await stream;
    co_return value;
}

/// Returns a future of the operand. If the future is dropped before it is ready, the operand has given no value.
template <CanBeAwaited X>
Future<AwaitedValue<X>> futureOf(X operand) {
    using T = AwaitedValue<X>;
    if constexpr (InPlace<X>)
        return keep(operand);
    else if constexpr (requires { std::move(operand).future(); })
        return std::move(operand).future();
    else if constexpr (std::is_convertible_v<X, Future<T>>)
        return operand;
    else if constexpr (std::is_invocable_v<X&>)
        return futureOf(operand());
    else
        return next(std::move(operand));
}

/// True if a const R has const operands: then R owns them. A view has the operands of others.
template <class R>
inline constexpr bool kOwnsOperands = false;
template <class R>
    requires std::same_as<decltype(*std::begin(std::declval<R const&>())), OperandIn<R> const&>
inline constexpr bool kOwnsOperands<R> = true;
/// Returns `operand`, which is `*std::begin(range)` of an R, for a move out of the range, or for a copy from a view.
template <OperandRange R, class Reference>
FLOW_INLINE decltype(auto) taken(Reference&& operand) {
    if constexpr (kOwnsOperands<R>)
        return std::move(operand);
    else
        return std::forward<Reference>(operand);
}

/// Returns the futures of the operands, in order, or `operands` itself if it is a vector of futures. Stops when
/// `values` futures have values, or when more than `failures` futures have failed: later operands do not begin.
template <OperandRange R, class T = AwaitedValue<OperandIn<R>>>
FLOW_INLINE decltype(auto) futuresOf(R& operands, std::size_t values, std::size_t failures,
                                     std::source_location caller) {
    if constexpr (std::is_same_v<R, std::vector<Future<T>>>) {
        return (operands);
    } else {
        std::vector<Future<T>> futures;
        futures.reserve(std::size(operands));
        for (auto&& operand : operands) {
            checkValid(operand, caller);
            Future<T>& made = futures.emplace_back(futureOf(taken<R>(std::forward<decltype(operand)>(operand))));
            if (made.isReady() && (made.isError() ? failures-- : --values) == 0)
                break;
        }
        return futures;
    }
}

template <class Take, class Futures, class Result = std::invoke_result_t<Take&, Futures&>>
Future<Result> whenDecided(Take take, Futures futures, Future<Void> decided, Propagate = {}) {
    co_await std::move(decided);
    co_return take(futures);
}

} // namespace combine
} // namespace flow
