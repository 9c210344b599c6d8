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
// Each is one allocation, whatever the number of inputs. With an error, the first one in time counts; among those that
// are ready at the call, the first in order.
//
// Inputs that are not ready are held, and run on, for as long as the result is held, also when it is ready: what waits
// for the result runs first, and may go on to wait for the inputs that are left. Cancel-safe: dropping the result
// releases them, and an input that nothing else holds is cancelled by that. With Remaining::Released they are released
// as soon as the result is decided, before what waits for it runs. `||` always does so.

#include "flow/wait/quorum.h"

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

/// Ready when all have come, with values or errors.
template <class T>
Future<Void> waitForAllReady(std::vector<Future<T>> const& futures,
                             std::source_location caller = std::source_location::current()) {
    return quorumOf(futures, futures.size(), Remaining::RunOn, Errors::CountAsReady, caller);
}

/// Ready when all have values; fails with the first error.
template <class T>
Future<Void> waitForAll(std::vector<Future<T>> const& futures, Remaining remaining = Remaining::RunOn,
                        std::source_location caller = std::source_location::current()) {
    return quorum(futures, futures.size(), remaining, caller);
}

/// Ready when the first has a value; fails if an error comes first. Ready at once if there are none.
template <class T>
Future<Void> waitForAny(std::vector<Future<T>> const& futures, Remaining remaining = Remaining::RunOn,
                        std::source_location caller = std::source_location::current()) {
    return quorum(futures, futures.empty() ? 0 : 1, remaining, caller);
}

/// Ready when both are; fails with the first error.
inline Future<Void> operator&&(WaitInput const& a, WaitInput const& b) {
    return quorumOf(2, Remaining::RunOn, a, b);
}

/// Ready when either is; fails if the first to come is an error. The other is released before what waits for this runs.
inline Future<Void> operator||(WaitInput const& a, WaitInput const& b) {
    return quorumOf(1, Remaining::Released, a, b);
}

/// Ready when the future has a value; fails with its error.
inline Future<Void> success(WaitInput const& future) {
    return quorumOf(1, Remaining::RunOn, future);
}

} // namespace flow
