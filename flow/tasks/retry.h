#pragma once
// retry: calls a function again, each time after a longer wait, until its task succeeds.
//
//     Page page = co_await retry(co_await context(), {.attempts = 5, .backoff = 0.1},
//                                [&](Context here) { return load(here, key); });
//
// The function is called for each attempt and returns a Task. The wait before each further attempt is longer by the
// policy's factor, and shorter by a random part (deterministicRandom()), so that many callers that failed together do
// not come back together. A cancel is not retried. The last error is thrown.

#include "flow/combine/retry.h"
#include "flow/tasks/task.h"

#include <type_traits>

namespace flow {

template <class F>
auto retry(Context, RetryPolicy policy, F f, std::source_location caller = std::source_location::current())
    -> std::invoke_result_t<F&, Context> {
    using T = typename std::invoke_result_t<F&, Context>::Element;
    policy.check(caller);
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
        if (!policy.continuesAfter(++failed, error))
            throw error;
        co_await delay(policy.secondsAfter(failed));
    }
}

} // namespace flow
