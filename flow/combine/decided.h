#pragma once
// The parts of race(), all() and some(), for futures, that they have in common. Programs use those
// (flow/combine/race.h, flow/combine/all.h).

#include "flow/combine/quorum.h"
#include "flow/coro/coroutine.h"
#include "flow/wait/operand.h"

#include <source_location>
#include <vector>

namespace flow {
namespace combine {

/// The result of a race(), which the coroutine owns.
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

/// The future of an operand. It takes a result only when, or before, it is ready: an operand of which the future is
/// dropped before that has given nothing.
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

/// The futures of a range, in order, or the range itself if it has futures: up to the one with which `values` of them
/// have values, or with which more than `failures` have failed.
template <CanBeAwaited X>
FLOW_INLINE decltype(auto) futuresOf(std::vector<X>& operands, std::size_t values, std::size_t failures,
                                     std::source_location caller) {
    if constexpr (kIsFuture<X>) {
        return (operands);
    } else {
        std::vector<Future<AwaitedValue<X>>> futures;
        futures.reserve(operands.size());
        for (X& operand : operands) {
            checkValid(operand, caller);
            Future<AwaitedValue<X>>& made = futures.emplace_back(futureOf(std::move(operand)));
            if (made.isReady() && (made.isError() ? failures-- : --values) == 0)
                break;
        }
        return futures;
    }
}

/// The result of `take`, which takes it out of the futures once `decided` is ready.
template <class Take, class Futures, class Result = std::invoke_result_t<Take&, Futures&>>
Future<Result> whenDecided(Take take, Futures futures, Future<Void> decided, Propagate = {}) {
    co_await std::move(decided);
    co_return take(futures);
}

} // namespace combine
} // namespace flow
