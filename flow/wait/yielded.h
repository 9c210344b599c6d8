#pragma once
// yieldedFuture: waits for a future that has many waiters, and lets other steps of the loop run between these waiters.
//
//     wait(yieldedFuture(changed));      // if a thousand actors wait in this way, they take turns
//
// When the future is ready, its other waiters run first. Then the waiters of yieldedFuture() run, oldest first, until
// yield() would wait. The remaining waiters wait as for delay(0) at the priority DefaultYield. Then at least one of
// them runs, and so on. Without a loop no waiter is delayed. Errors of the future are passed on. Cancel-safe.

#include "flow/wait/delay.h"

namespace flow {

/// Returns a future that is ready after `what`. If `what` has a value already, waits as yield() does.
Future<Void> yieldedFuture(Future<Void> what, std::source_location caller = std::source_location::current());

/// Functions of a test that replace the decisions of the current loop in yieldedFuture(), unless `yieldRules` is null.
struct YieldRules {
    bool (*needed)();
    Future<Void> (*pause)();
};
inline constinit thread_local YieldRules const* yieldRules = nullptr;
} // namespace flow
