#pragma once
// recurring() and recurringAsync(): call a function again and again.
//
//     Future<Void> beat = recurring([this] { sendHeartbeat(); }, 1.0);
//     Future<Void> refresh = recurringAsync([this] { return reload(); }, 60.0);
//
// Cancel-safe: dropping the result ends the calls. If the function throws, the calls end and the result fails. Objects
// that the function refers to must outlive the result. Ticks (flow/sync/ticks.h) keep fixed times instead.

#include "flow/base/seconds.h"
#include "flow/coro/coroutine.h"

#include <functional>

namespace flow {

/// Calls the function every `interval` seconds, at first after one interval. Each interval begins when a call returns.
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
