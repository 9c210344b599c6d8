#pragma once
// yieldedFuture: waits for a future that has many waiters, without running all of them in one go.
//
//     wait(yieldedFuture(changed));      // a thousand actors do: they take their turns
//
// When the future is ready, the waiters of yieldedFuture() run after all other waiters and in order of registration, as
// long as yield() would let them. The rest resume in the loop, behind the steps that are ready at the priority
// DefaultYield, at least one in each turn. Without a loop none is delayed. Errors pass through. Cancel-safe.

#include "flow/wait/delay.h"

namespace flow {

/// A future that is ready after `what`. If `what` is ready already, this is a yield().
Future<Void> yieldedFuture(Future<Void> what, std::source_location caller = std::source_location::current());

/// The decisions of yieldedFuture(), for tests that make them; null: the current loop decides.
struct YieldRules {
    bool (*needed)();
    Future<Void> (*pause)();
};
inline constinit thread_local YieldRules const* yieldRules = nullptr;
} // namespace flow
