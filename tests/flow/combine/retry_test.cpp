#include "flow/combine/retry.h"

#include "flow/sim/sim_loop.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/death.h"

#include <doctest/doctest.h>

#include <stdexcept>

using namespace flow;

namespace {

/// Fails so many times, each after a second.
Future<int> attempt(int* left, Error error) {
    co_await delay(1);
    if (--*left > 0)
        throw error;
    co_return 7;
}

} // namespace

TEST_CASE("retry: again, each time later, until there is a value") {
    SimLoop loop;
    test::Balance balance;
    int left = 4;
    RetryPolicy policy{.attempts = 5, .backoff = 1, .factor = 3, .longest = 5, .jitter = 0};
    CHECK(loop.run(flow::retry(policy, [&] { return attempt(&left, timed_out()); })) == 7);
    CHECK(loop.now() == 4 + 1 + 3 + 5);
    loop.run(flow::retry(policy, [] { return Future<Void>(Void()); }));
    CHECK(loop.now() == 13);
}

TEST_CASE("retry: the wait of a late attempt, and a policy without sense") {
    CHECK(RetryPolicy{.backoff = 1, .factor = 3, .longest = 1e6, .jitter = 0}.secondsAfter(8) == 2187);
    CHECK(RetryPolicy{.backoff = 2, .factor = 1, .jitter = 0}.secondsAfter(1'000'000'000) == 2);
    CHECK(RetryPolicy{.backoff = 0, .jitter = 0}.secondsAfter(1'000'000'000) == 0);
    CHECK(RetryPolicy{.jitter = 0}.secondsAfter(1'000'000'000) == 30);
    CHECK(RetryPolicy{.backoff = 1, .factor = 0.5, .jitter = 0}.secondsAfter(3) == 0.25);
    // At once, where the caller is still on the stack, and not when an attempt has failed.
    auto never = [] { return Future<Void>(Never()); };
    CHECK_DIES((void)flow::retry({.backoff = -1}, never), "RetryPolicy: backoff is -1; it must not be negative");
    CHECK_DIES((void)flow::retry({.factor = 0.5}, never), "RetryPolicy: factor is 0.5; it must be at least 1");
    CHECK_DIES((void)flow::retry({.longest = -2}, never), "RetryPolicy: longest is -2; it must not be negative");
    CHECK_DIES((void)flow::retry({.jitter = 5}, never), "RetryPolicy: jitter is 5; it must be from 0 to 1");
    CHECK_DIES((void)flow::retry({.jitter = -1}, never), "it must be from 0 to 1");
}

TEST_CASE("retry: the last error is the result, and what is not worth it is not retried") {
    SimLoop loop;
    test::Balance balance;
    int left = 9;
    Future<int> failed = flow::retry({.attempts = 3}, [&] { return attempt(&left, timed_out()); });
    CHECK_THROWS_AS(loop.run(failed), Error);
    CHECK(failed.getError() == timed_out());
    CHECK(left == 6);
    RetryPolicy policy{.retries = [](Error error) { return error != broken_promise(); }};
    failed = flow::retry(policy, [&] { return attempt(&left, broken_promise()); });
    CHECK_THROWS_AS(loop.run(failed), Error);
    CHECK(left == 5);
    CHECK(flow::retry({}, []() -> Future<int> { return actor_cancelled(); }).getError() == actor_cancelled());
}

TEST_CASE("retry: what the function throws is the error of its attempt") {
    SimLoop loop;
    int calls = 0;
    CHECK(loop.run(flow::retry({.jitter = 0}, [&]() -> Future<int> {
        if (++calls < 3)
            throw std::runtime_error("not yet");
        return calls;
    })) == 3);
    CHECK(loop.now() == doctest::Approx(0.1 + 0.2));
}

TEST_CASE("retry: dropped, it releases the attempt, or ends the wait for the next") {
    SimLoop loop;
    test::Balance balance;
    Promise<int> promise;
    Future<int> waiting = flow::retry({}, [&] { return promise.getFuture(); });
    CHECK(promise.getFutureReferenceCount() > 0);
    waiting = Future<int>();
    CHECK(promise.getFutureReferenceCount() == 0);
    waiting = flow::retry({.backoff = 5}, []() -> Future<int> { return timed_out(); });
    CHECK(loop.hasWork());
    waiting.cancel();
    CHECK(waiting.getError() == actor_cancelled());
    CHECK_FALSE(loop.hasWork());
}

TEST_CASE("retry: the jitter shortens a wait by at most its part") {
    RetryPolicy policy{.backoff = 10, .jitter = 0.25};
    for (int i = 0; i < 100; ++i) {
        double seconds = policy.secondsAfter(1);
        CHECK(seconds > 7.5);
        CHECK(seconds <= 10);
    }
}
