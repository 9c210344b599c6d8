#include "flow/tasks/retry.h"

#include "flow/sim/sim_loop.h"
#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>

namespace {
using namespace flow;

Task<int> attempt(Context, int* left, Error error) {
    co_await delay(1);
    if (--*left > 0)
        throw error;
    co_return 7;
}
Task<int> attempts(Context, RetryPolicy policy, int* left, Error error) {
    auto again = [left, error](Context here) { return attempt(here, left, error); };
    co_return co_await retry(co_await context(), policy, again);
}

TEST_CASE("retry tries again, each time later") {
    SimLoop loop;
    test::Balance balance;
    int left = 4;
    RetryPolicy policy{.attempts = 5, .backoff = 1, .factor = 3, .longest = 5, .jitter = 0};
    CHECK(loop.run(start(attempts(Environment(), policy, &left, timed_out()))) == 7);
    CHECK(loop.now() == 4 + 1 + 3 + 5);
}

TEST_CASE("retry fails after so many attempts, with the last error") {
    SimLoop loop;
    int left = 9;
    Future<int> failed = start(attempts(Environment(), {.attempts = 3}, &left, timed_out()));
    CHECK_THROWS_AS(loop.run(failed), Error);
    CHECK(failed.getError() == timed_out());
    CHECK(left == 6);
}

TEST_CASE("retry leaves errors that are not worth it, and cancels") {
    SimLoop loop;
    int left = 9;
    RetryPolicy policy{.retries = [](Error error) { return error != broken_promise(); }};
    Future<int> failed = start(attempts(Environment(), policy, &left, broken_promise()));
    CHECK_THROWS_AS(loop.run(failed), Error);
    CHECK(left == 8);
    Future<int> cancelled = start(attempts(Environment(), {}, &left, timed_out()));
    loop.run(delay(0.5));
    cancelled.cancel();
    CHECK(left == 8);
    CHECK(!loop.hasWork());
}

TEST_CASE("jitter shortens a wait by at most its part") {
    RetryPolicy policy{.backoff = 10, .jitter = 0.25};
    for (int i = 0; i < 100; ++i) {
        double seconds = policy.secondsAfter(1);
        CHECK(seconds > 7.5);
        CHECK(seconds <= 10);
    }
}

} // namespace
