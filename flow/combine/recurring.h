#pragma once
// Functions that are called again and again.
//
//     Future<Void> beat = recurring([this] { sendHeartbeat(); }, 1.0);
//     Future<Void> refresh = recurringAsync([this] { return reload(); }, 60.0);
//
// Cancel-safe: dropping the result ends the calls. An error that the function throws ends them too, and fails the
// result. All that the function refers to must live as long as the result. For steps at fixed times, whatever the calls
// take, see Ticks (flow/sync/ticks.h).

#include "flow/base/seconds.h"
#include "flow/coro/coroutine.h"

#include <functional>

namespace flow {

/// Calls the function every `interval` seconds, first after one interval, forever. Each interval begins when the
/// previous call has returned.
template <class F>
Future<Void> recurring(F function, Seconds interval, TaskPriority priority = TaskPriority::DefaultDelay,
                       Propagate = {}) {
    for (;;) {
        co_await delay(interval, priority);
        std::invoke(function);
    }
}

/// Waits `initialDelay` seconds. Then, forever: calls the function, waits for its future, and waits `interval` seconds.
template <class F>
Future<Void> recurringAsync(F function, Seconds interval, Seconds initialDelay = 0,
                            TaskPriority priority = TaskPriority::DefaultDelay, Propagate = {}) {
    co_await delay(initialDelay, priority);
    for (;;) {
        co_await std::invoke(function);
        co_await delay(interval, priority);
    }
}

} // namespace flow
