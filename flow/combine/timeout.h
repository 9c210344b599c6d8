#pragma once
// timeout(), timeoutError(), delayed(): time limits. The operand is a future, a stream (its next value), an operation
// in place, a task, or a callable that makes one of these (flow/wait/operand.h).
//
//     int n = wait(timeout(count(), 1.0, -1));                   // -1 after a second
//     Optional<int> n = wait(timeout(count(), 1.0));        // nothing after a second
//     int n = wait(timeoutError(count(), 1.0));                  // timed_out after a second
//
//     int n = wait(delayed(count(), 1.0));                       // a second after count() has ended
//     wait(delayJittered(5.0));                                  // waits 4.5 to 5.5 seconds, by deterministicRandom()
//
// The time counts from the call. When the result is decided or dropped, the operand is released: a future to which
// nothing else refers is cancelled, and a late stream or operation has given nothing. All that an operation refers to
// must live until its release: in an actor, send a state variable through a Channel, not a local. If the value and the
// deadline come in the same turn, the one that comes first wins. Cancel-safe.

#include "flow/base/optional.h"
#include "flow/base/random.h"
#include "flow/base/seconds.h"
#include "flow/combine/race.h"

namespace flow {

namespace combine {
// The coroutines of the functions below. A parameter `caller` would enlarge their frames.

/// The type of an operand in a race. An operation in place is passed by reference, because it must not move.
template <class X>
using Raced = std::conditional_t<InPlace<X>, X&, X&&>;

/// A function that makes an operand. An assertion about an invalid operand names the caller of timeout().
template <class F>
struct CheckedFunction {
    F make;
    std::source_location caller;
    decltype(auto) operator()() {
        decltype(auto) made = make();
        checkValid(made, caller);
        return made;
    }
};
template <class X>
FLOW_INLINE decltype(auto) checked(X& operand, std::source_location caller) {
    checkValid(operand, caller);
    if constexpr (std::is_invocable_v<X&> && !InPlace<X>)
        return CheckedFunction<X>{std::move(operand), caller};
    else
        return std::move(operand);
}

template <class X, class T = AwaitedValue<X>>
Future<T> timeout(X operand, double seconds, std::type_identity_t<T> otherwise, TaskPriority priority, Propagate = {},
                  ExplicitVoid = {}) {
    auto first = co_await race(static_cast<Raced<X>>(operand), delay(seconds, priority));
    if (first.index() == 0)
        co_return std::get<0>(std::move(first));
    co_return std::move(otherwise);
}

template <class X, class T = AwaitedValue<X>>
Future<Optional<T>> timeout(X operand, double seconds, TaskPriority priority, Propagate = {}) {
    auto first = co_await race(static_cast<Raced<X>>(operand), delay(seconds, priority));
    if (first.index() == 0)
        co_return Optional<T>(std::get<0>(std::move(first)));
    co_return Optional<T>();
}

template <class X, class T = AwaitedValue<X>>
Future<T> timeoutError(X operand, double seconds, TaskPriority priority, Propagate = {}, ExplicitVoid = {}) {
    auto first = co_await race(static_cast<Raced<X>>(operand), delay(seconds, priority));
    if (first.index() != 0)
        co_await coro::fail(timed_out());
    co_return std::get<0>(std::move(first));
}

template <class T>
Future<T> delayed(Future<T> future, double seconds, TaskPriority priority, Propagate = {}, ExplicitVoid = {}) {
    ErrorOr<T> result = co_await coro::tryKeeping(std::move(future));
    co_await delay(seconds, priority);
    if (result.isError())
        co_await coro::fail(result.getError());
    co_return std::move(result).get();
}
} // namespace combine

/// Returns the operand's value, or `otherwise` if the value takes longer than `seconds`.
template <CanBeAwaited X>
FLOW_INLINE Future<AwaitedValue<X>> timeout(X operand, Seconds seconds, std::type_identity_t<AwaitedValue<X>> otherwise,
                                            TaskPriority priority = TaskPriority::DefaultDelay,
                                            std::source_location caller = std::source_location::current()) {
    return combine::timeout(combine::checked(operand, caller), seconds, std::move(otherwise), priority);
}

/// Returns the operand's value, or nothing if the value takes longer than `seconds`.
template <CanBeAwaited X>
FLOW_INLINE Future<Optional<AwaitedValue<X>>> timeout(X operand, Seconds seconds,
                                                      TaskPriority priority = TaskPriority::DefaultDelay,
                                                      std::source_location caller = std::source_location::current()) {
    return combine::timeout(combine::checked(operand, caller), seconds, priority);
}

/// Returns the operand's value. Fails with timed_out if the value takes longer than `seconds`.
template <CanBeAwaited X>
FLOW_INLINE Future<AwaitedValue<X>> timeoutError(X operand, Seconds seconds,
                                                 TaskPriority priority = TaskPriority::DefaultDelay,
                                                 std::source_location caller = std::source_location::current()) {
    return combine::timeoutError(combine::checked(operand, caller), seconds, priority);
}

/// Waits for the future, then `seconds` more, and returns the future's result.
template <class T>
FLOW_INLINE Future<T> delayed(Future<T> future, Seconds seconds = 0, TaskPriority priority = TaskPriority::DefaultDelay,
                              std::source_location caller = std::source_location::current()) {
    checkValid(future, caller);
    return combine::delayed(std::move(future), seconds, priority);
}

/// jittered(seconds) returns `seconds` times a uniform random number of [kJitterOffset, kJitterOffset + kJitterRange).
inline constexpr double kJitterOffset = 0.9;
inline constexpr double kJitterRange = 0.2;
inline double jittered(double seconds) {
    return seconds * (kJitterOffset + kJitterRange * deterministicRandom()->random01());
}
/// Returns a delay of jittered(seconds), so that actors that started together do not stay in step.
inline Delay delayJittered(Seconds seconds, TaskPriority priority = TaskPriority::DefaultDelay) {
    return delay(jittered(seconds), priority);
}

} // namespace flow
