#pragma once
// retry(): calls a function again, each time after a longer wait, until it succeeds.
//
//     Page page = wait(retry({.attempts = 5, .backoff = 0.1}, [=] { return load(key); }));
//
// The function is called for each attempt. It returns a future, a task or anything else that can be waited for. If it
// throws, the attempt has failed. The waits grow by the factor of the policy, up to its longest wait. Each wait is
// shortened by a random part (deterministicRandom()), so that callers that failed together do not retry together. If
// all attempts fail, the result is the last error. actor_cancelled is not retried. Cancel-safe: dropping the result
// drops the attempt, or ends the wait for the next one. For tasks see flow/tasks/combine.h.

#include "flow/base/assert.h"
#include "flow/base/format.h"
#include "flow/base/random.h"
#include "flow/base/seconds.h"
#include "flow/combine/detail/decided.h"
#include "flow/wait/delay.h"

#include <algorithm>
#include <type_traits>

namespace flow {

struct RetryPolicy {
    int attempts = 5;      // the most attempts; at least one is made
    Seconds backoff = 0.1; // the wait before the second attempt; not negative
    double factor = 2;     // each wait is this many times the previous one; at least 1
    Seconds longest = 30;  // the longest wait; not negative
    double jitter = 0.5;   // the random part of each wait: 0 to 1
    /// Returns true if the error may be retried. Null: every error may be retried.
    bool (*retries)(Error) = nullptr;

    /// Returns true if the call is retried after `failed` attempts, the last one with this error.
    bool continuesAfter(int failed, Error error) const {
        return error != actor_cancelled() && failed < attempts && (!retries || retries(error));
    }
    void check(std::source_location caller = std::source_location::current()) const {
        auto require = [caller](bool isValid, char const* option, double value, char const* rule) {
            FLOW_ASSERT_AT(caller, isValid, format("RetryPolicy: %s is %g; %s", option, value, rule).c_str());
        };
        require(backoff >= 0, "backoff", backoff, "it must not be negative");
        require(factor >= 1, "factor", factor, "it must be at least 1");
        require(longest >= 0, "longest", longest, "it must not be negative");
        require(jitter >= 0 && jitter <= 1, "jitter", jitter, "it must be from 0 to 1");
    }
    /// Returns the seconds to wait after `failed` attempts have failed.
    double secondsAfter(int failed) const {
        double seconds = backoff;
        // Computes the power by squaring, because std::pow() rounds differently on some processors.
        double power = factor;
        for (int left = failed - 1; left > 0 && seconds > 0 && seconds < longest; left /= 2) {
            if (left % 2 != 0)
                seconds *= power;
            power *= power;
        }
        seconds = std::min<double>(seconds, longest);
        return seconds * (1 - jitter * deterministicRandom()->random01());
    }
};

template <CanBeAwaited F>
    requires std::is_invocable_v<F&>
Future<AwaitedValue<F>> retry(RetryPolicy policy, F function, Propagate = {}, ExplicitVoid = {},
                              std::source_location caller = std::source_location::current()) {
    using T = AwaitedValue<F>;
    policy.check(caller);
    for (int failed = 1;; ++failed) {
        Future<T> attempt;
        try {
            attempt = combine::futureOf(function());
        } catch (...) {
            attempt = detail::failedByCaught<T>();
        }
        checkValid(attempt, caller);
        ErrorOr<T> result = co_await coro::tryKeeping(std::move(attempt));
        if (result.present())
            co_return std::move(result).get();
        if (!policy.continuesAfter(failed, result.getError()))
            co_await coro::fail(result.getError());
        co_await delay(policy.secondsAfter(failed));
    }
}

} // namespace flow
