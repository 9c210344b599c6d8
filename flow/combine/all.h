#pragma once
// Waiting for several futures at once.
//
//     wait(waitForAll(replies));            // every one has a value, or the first error
//     wait(quorum(replies, 2));             // two values, or the first error
//     wait(waitForAny(replies));            // the first to come, value or error
//     wait(waitForAllReady(replies));       // every one has come, value or error
//     wait(save() && send());               // both
//     wait(reply || delay(1.0));            // either
//     wait(success(reply));                 // when it comes, whatever the value
//
// Each function makes one allocation, whatever the number of inputs. If several inputs fail, the error that comes first
// in time counts; among inputs that are ready at the call, the first in order.
//
// The result holds the inputs that are not ready, and they run on, as long as the result is held, even when it is
// ready: the waiter of the result runs first, and may then wait for the remaining inputs. Cancel-safe: dropping the
// result releases the inputs, which cancels an input that nothing else holds. With Remaining::Released the inputs are
// released as soon as the result is decided, before its waiter runs. `||` always does so.

#include "flow/combine/quorum.h"

#include <source_location>
#include <vector>

namespace flow {

/// Ready when `needed` of the futures have values; fails with the first error, even if enough others could still come.
template <class T>
Future<Void> quorum(std::vector<Future<T>> const& futures, std::size_t needed, Remaining remaining = Remaining::RunOn,
                    std::source_location caller = std::source_location::current()) {
    FLOW_ASSERT_AT(caller, needed <= futures.size(), "a quorum of more futures than there are");
    return quorumOf(futures, needed, remaining, Errors::Decide, caller);
}

/// Ready when all futures are ready, with values or errors.
template <class T>
Future<Void> waitForAllReady(std::vector<Future<T>> const& futures,
                             std::source_location caller = std::source_location::current()) {
    return quorumOf(futures, futures.size(), Remaining::RunOn, Errors::CountAsReady, caller);
}

/// Ready when all futures have values; fails with the first error.
template <class T>
Future<Void> waitForAll(std::vector<Future<T>> const& futures, Remaining remaining = Remaining::RunOn,
                        std::source_location caller = std::source_location::current()) {
    return quorum(futures, futures.size(), remaining, caller);
}

/// Ready when the first future has a value; fails if an error comes first. Ready at once if there are no futures.
template <class T>
Future<Void> waitForAny(std::vector<Future<T>> const& futures, Remaining remaining = Remaining::RunOn,
                        std::source_location caller = std::source_location::current()) {
    return quorum(futures, futures.empty() ? 0 : 1, remaining, caller);
}

/// Ready when both futures are; fails with the first error.
inline Future<Void> operator&&(WaitInput const& a, WaitInput const& b) {
    return quorumOf(2, Remaining::RunOn, a, b);
}

/// Ready when either future is; fails if the first to come is an error. The other future is released before the waiter
/// runs.
inline Future<Void> operator||(WaitInput const& a, WaitInput const& b) {
    return quorumOf(1, Remaining::Released, a, b);
}

/// Ready when the future has a value; fails with its error.
inline Future<Void> success(WaitInput const& future) {
    return quorumOf(1, Remaining::RunOn, future);
}

} // namespace flow
