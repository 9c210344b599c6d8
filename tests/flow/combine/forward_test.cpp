#include "flow/combine/forward.h"

#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>

using namespace flow;

TEST_CASE("forwardPromise: value and error, without a future to hold") {
    test::Balance balance;
    Promise<int> in, out, failed;
    forwardPromise(out, in.getFuture());
    forwardPromise(failed, Future<int>(timed_out()));
    CHECK(failed.getFuture().getError() == timed_out());
    Future<int> result = out.getFuture();
    out.reset();
    CHECK_FALSE(result.isReady());
    in.send(3);
    CHECK(result.get() == 3);
}

TEST_CASE("forwardPromise: a promise that is set meanwhile is left alone") {
    test::Balance balance;
    Promise<int> in, out;
    forwardPromise(out, in.getFuture());
    out.send(1);
    in.send(2);
    CHECK(out.getFuture().get() == 1);
}

TEST_CASE("forwardPromise: into a stream") {
    test::Balance balance;
    PromiseStream<int> out;
    FutureStream<int> results = out.getFuture();
    forwardPromise(out, Future<int>(1));
    forwardPromise(out, Future<int>(io_error()));
    CHECK(results.pop() == 1);
    CHECK(results.getError() == io_error());
}
