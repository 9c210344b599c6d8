#pragma once
// Futures with a limit in time.
//
//     int n = wait(timeout(count(), 1.0, -1));                   // -1 after a second
//     Optional<int> n = wait(timeout(count(), 1.0));        // nothing after a second
//     int n = wait(timeoutError(count(), 1.0));                  // timed_out after a second
//
//     int n = wait(delayed(count(), 1.0));                       // a second after it has come
//     wait(delayJittered(5.0));                                  // 4.5 to 5.5 seconds, by deterministicRandom()
//
// Time runs from the call. When the result is decided, the future is released. That cancels it if nothing else refers
// to it. If value and deadline come in the same turn, the first to come wins. Cancel-safe.

#include "flow/base/optional.h"
#include "flow/base/random.h"
#include "flow/combine/race.h"

namespace flow {

namespace combine {
// The coroutines of the functions below. Only those functions have the parameter `caller`, which would enlarge the
// frames.

template <class T>
Future<T> timeout(Future<T> future, double seconds, std::type_identity_t<T> otherwise, TaskPriority priority,
                  Propagate = {}) {
    [[maybe_unused]] auto first = co_await race(std::move(future), delay(seconds, priority));
    if constexpr (!std::is_same_v<T, Void>) { // a coroutine without a value cannot return one
        if (first.index() == 0)
            co_return std::get<0>(std::move(first));
        co_return std::move(otherwise);
    }
}

template <class T>
Future<Optional<T>> timeout(Future<T> future, double seconds, TaskPriority priority, Propagate = {}) {
    auto first = co_await race(std::move(future), delay(seconds, priority));
    if (first.index() == 0)
        co_return Optional<T>(std::get<0>(std::move(first)));
    co_return Optional<T>();
}

template <class T>
Future<T> timeoutError(Future<T> future, double seconds, TaskPriority priority, Propagate = {}) {
    auto first = co_await race(std::move(future), delay(seconds, priority));
    if (first.index() != 0)
        co_await coro::fail(timed_out());
    if constexpr (!std::is_same_v<T, Void>)
        co_return std::get<0>(std::move(first));
}

template <class T>
Future<T> delayed(Future<T> future, double seconds, TaskPriority priority, Propagate = {}) {
    ErrorOr<T> result = co_await tryGet(std::move(future));
    co_await delay(seconds, priority);
    if (result.isError())
        co_await coro::fail(result.getError());
    if constexpr (!std::is_same_v<T, Void>)
        co_return std::move(result).get();
}
} // namespace combine

/// The future's value, or `otherwise` if it takes longer than `seconds`.
template <class T>
FLOW_INLINE Future<T> timeout(Future<T> future, double seconds, std::type_identity_t<T> otherwise,
                              TaskPriority priority = TaskPriority::DefaultDelay,
                              std::source_location caller = std::source_location::current()) {
    checkValid(future, caller);
    return combine::timeout(std::move(future), seconds, std::move(otherwise), priority);
}

/// The future's value, or nothing if it takes longer than `seconds`.
template <class T>
FLOW_INLINE Future<Optional<T>> timeout(Future<T> future, double seconds,
                                        TaskPriority priority = TaskPriority::DefaultDelay,
                                        std::source_location caller = std::source_location::current()) {
    checkValid(future, caller);
    return combine::timeout(std::move(future), seconds, priority);
}

/// The future's value, or the error timed_out if it takes longer than `seconds`.
template <class T>
FLOW_INLINE Future<T> timeoutError(Future<T> future, double seconds, TaskPriority priority = TaskPriority::DefaultDelay,
                                   std::source_location caller = std::source_location::current()) {
    checkValid(future, caller);
    return combine::timeoutError(std::move(future), seconds, priority);
}
/// timeoutError() of an operation, such as a read of a connection. If the time was over first, the operation has taken
/// nothing. All that the operation refers to must live until then: in an actor, the value that is sent through a
/// Channel is a state variable. A delay and the next value of a stream have no such overload: write a `choose` or a
/// `race`.
template <InPlace Op>
Future<typename Op::Result> timeoutError(Op op, double seconds, TaskPriority priority = TaskPriority::DefaultDelay,
                                         Propagate = {}) {
    auto first = co_await race(op, delay(seconds, priority));
    if (first.index() != 0)
        co_await coro::fail(timed_out());
    if constexpr (!std::is_same_v<typename Op::Result, Void>)
        co_return std::get<0>(std::move(first));
}

/// The future's result, value or error, `seconds` after it has come.
template <class T>
FLOW_INLINE Future<T> delayed(Future<T> future, double seconds = 0, TaskPriority priority = TaskPriority::DefaultDelay,
                              std::source_location caller = std::source_location::current()) {
    checkValid(future, caller);
    return combine::delayed(std::move(future), seconds, priority);
}

/// jittered(seconds) is uniformly random in [offset, offset + range) times `seconds`.
inline constexpr double kJitterOffset = 0.9;
inline constexpr double kJitterRange = 0.2;
inline double jittered(double seconds) {
    return seconds * (kJitterOffset + kJitterRange * deterministicRandom()->random01());
}
/// A delay that is not quite regular, so that actors that started together do not stay in step.
inline Delay delayJittered(double seconds, TaskPriority priority = TaskPriority::DefaultDelay) {
    return delay(jittered(seconds), priority);
}

} // namespace flow
