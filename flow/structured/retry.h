#pragma once
// retry: does it again, after a while, until it succeeds.
//
//     Page page = co_await retry(co_await context(), {.attempts = 5, .backoff = 0.1},
//                                [&](Context here) { return load(here, key); });
//
// The function is called for each attempt and gives a Task. After an error the next attempt waits, each time longer by
// the policy's factor, and by a random part, by deterministicRandom(), so that many that failed together do not come
// back together. A cancel is not retried. The last error is thrown.

#include "flow/base/random.h"
#include "flow/structured/task.h"
#include "flow/wait/delay.h"

#include <algorithm>
#include <type_traits>

namespace flow {

struct RetryPolicy {
    int attempts = 5;     // at least one is made
    double backoff = 0.1; // seconds before the second one
    double factor = 2;    // for each further one
    double longest = 30;  // seconds
    double jitter = 0.5;  // the part of the wait that is random: 0 to 1
    /// Whether this error is worth another attempt; null: each is.
    bool (*retries)(Error) = nullptr;

    /// How long to wait after so many attempts have failed.
    double secondsAfter(int failed) const {
        double seconds = backoff;
        for (int i = 1; i < failed && seconds < longest; ++i)
            seconds *= factor;
        seconds = std::min(seconds, longest);
        return seconds * (1 - jitter * deterministicRandom()->random01());
    }
};

template <class F>
auto retry(Context, RetryPolicy policy, F f) -> std::invoke_result_t<F&, Context> {
    using T = typename std::invoke_result_t<F&, Context>::Element;
    Context here = co_await context();
    for (int failed = 0;;) {
        Error error;
        try {
            auto attempt = f(here);
            if constexpr (std::is_same_v<T, Void>) {
                co_await attempt;
                co_return;
            } else {
                T value = co_await std::move(attempt);
                co_return value;
            }
        } catch (...) {
            error = currentError();
        }
        if (error == actor_cancelled() || ++failed >= policy.attempts || (policy.retries && !policy.retries(error)))
            throw error;
        co_await delay(policy.secondsAfter(failed));
    }
}

} // namespace flow
