#pragma once
// Futures with a limit in time.
//
//     int n = wait(timeout(count(), 1.0, -1));                   // -1 after a second
//     std::optional<int> n = wait(timeout(count(), 1.0));        // nothing after a second
//     int n = wait(timeoutError(count(), 1.0));                  // timed_out after a second
//
// Time runs from the call. The future is released when the result is known, so that it is cancelled if nobody else
// holds it. If value and deadline come in the same turn, the first to come wins. Cancel-safe.

#include "flow/coro/race.h"

#include <optional>

namespace flow {

/// The future's value, or `otherwise` if it takes longer than `seconds`.
template <class T>
Future<T> timeout(Future<T> future, double seconds, std::type_identity_t<T> otherwise,
                  TaskPriority priority = TaskPriority::DefaultDelay) {
    [[maybe_unused]] auto first = co_await race(std::move(future), delay(seconds, priority));
    if constexpr (!std::is_same_v<T, Void>) { // a coroutine without a value cannot return one
        if (first.index() == 0)
            co_return std::get<0>(std::move(first));
        co_return std::move(otherwise);
    }
}

/// The future's value, or nothing if it takes longer than `seconds`.
template <class T>
Future<std::optional<T>> timeout(Future<T> future, double seconds, TaskPriority priority = TaskPriority::DefaultDelay) {
    auto first = co_await race(std::move(future), delay(seconds, priority));
    if (first.index() == 0)
        co_return std::optional<T>(std::get<0>(std::move(first)));
    co_return std::nullopt;
}

/// The future's value, or the error timed_out if it takes longer than `seconds`.
template <class T>
Future<T> timeoutError(Future<T> future, double seconds, TaskPriority priority = TaskPriority::DefaultDelay) {
    auto first = co_await race(std::move(future), delay(seconds, priority));
    if (first.index() != 0)
        throw timed_out();
    if constexpr (!std::is_same_v<T, Void>)
        co_return std::get<0>(std::move(first));
}

} // namespace flow
