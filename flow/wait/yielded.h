#pragma once
// yieldedFuture: waits for a future that has many waiters, without running all of them in one go.
//
//     wait(yieldedFuture(changed));      // if a thousand actors wait so, they take turns
//
// When the future is ready, the waiters of yieldedFuture() run after all other waiters, in the order in which they
// began to wait, as long as yield() would not wait. The rest resume in the loop, behind the steps that are ready at the
// priority DefaultYield, at least one in each turn. Without a loop no waiter is delayed. Errors pass through.
// Cancel-safe.

#include "flow/wait/delay.h"

namespace flow {

/// Returns a future that is ready after `what`. If `what` has a value already, waits as yield() does.
Future<Void> yieldedFuture(Future<Void> what, std::source_location caller = std::source_location::current());

/// The functions by which tests decide for yieldedFuture(). If `yieldRules` is null, the current loop decides.
struct YieldRules {
    bool (*needed)();
    Future<Void> (*pause)();
};
inline constinit thread_local YieldRules const* yieldRules = nullptr;
} // namespace flow
