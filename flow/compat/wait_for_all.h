#pragma once
// waitForAll() and others: Flow's waits for several futures. all(), some() and race() (flow/combine/) give the values.
//
//     wait(waitForAll(replies));            // all have a value, or the first error
//     wait(quorum(replies, 2));             // two values, or the first error
//     wait(waitForAny(replies));            // the first value or error
//     wait(waitForAllReady(replies));       // all have a value or an error
//
// Each function makes one allocation for any number of futures; its result has no value. If several futures fail, the
// result has the first error. Among futures that are ready at the call, the first in order counts.
//
// The result holds the futures that are not ready, even when it is ready itself, so that they run on. With
// Remaining::Released the result releases them when it is decided, before its waiter runs. Cancel-safe: dropping the
// result releases the futures, which cancels a future that nothing else holds.

#include "flow/combine/all.h"

#include <source_location>
#include <vector>

namespace flow {

/// Waits until `needed` futures have values. Fails with the first error, even if enough values could still come.
template <class T>
Future<Void> quorum(std::vector<Future<T>> const& futures, std::size_t needed, Remaining remaining = Remaining::RunOn,
                    std::source_location caller = std::source_location::current()) {
    FLOW_ASSERT_AT(caller, needed <= futures.size(), "a quorum of more futures than there are");
    return quorumOf(futures, needed, remaining, Errors::Decide, caller);
}

/// Waits until all futures are ready, with values or errors.
template <class T>
Future<Void> waitForAllReady(std::vector<Future<T>> const& futures,
                             std::source_location caller = std::source_location::current()) {
    return quorumOf(futures, futures.size(), Remaining::RunOn, Errors::CountAsReady, caller);
}

/// Waits until all futures have values. Fails with the first error.
template <class T>
Future<Void> waitForAll(std::vector<Future<T>> const& futures, Remaining remaining = Remaining::RunOn,
                        std::source_location caller = std::source_location::current()) {
    return quorum(futures, futures.size(), remaining, caller);
}

/// Waits until one of the futures has a value. Fails if an error comes first. Without futures, the result is ready.
template <class T>
Future<Void> waitForAny(std::vector<Future<T>> const& futures, Remaining remaining = Remaining::RunOn,
                        std::source_location caller = std::source_location::current()) {
    return quorum(futures, futures.empty() ? 0 : 1, remaining, caller);
}

/// Calls all().
template <class T>
Future<std::vector<T>> getAll(std::vector<Future<T>> futures,
                              std::source_location caller = std::source_location::current()) {
    return all(std::move(futures), caller);
}

} // namespace flow
