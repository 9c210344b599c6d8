#include "flow/combine/errors.h"

#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>

using namespace flow;

TEST_CASE("errorOr: value and error as a value") {
    test::Balance balance;
    CHECK(errorOr(Future<int>(3)).get().get() == 3);
    CHECK(errorOr(Future<int>(timed_out())).get().getError() == timed_out());
    Promise<Void> p;
    Future<ErrorOr<Void>> result = errorOr(p.getFuture());
    CHECK_FALSE(result.isReady());
    p.sendError(io_error());
    CHECK(result.get().isError(error_code_io_error));
    CHECK(errorOr(Future<Error>(io_error())).get().get() == io_error());
    CHECK(errorOr(Future<Error>::failed(io_error())).get().isError());
}

TEST_CASE("brokenPromiseToNever: waits for ever after a broken promise, and releases its future") {
    test::Balance balance;
    CHECK(brokenPromiseToNever(Future<int>(3)).get() == 3);
    CHECK(brokenPromiseToNever(Future<int>(timed_out())).getError() == timed_out());
    Future<int> waiting;
    {
        Promise<int> p;
        waiting = brokenPromiseToNever(p.getFuture());
    }
    CHECK_FALSE(waiting.isReady());
    waiting.cancel();
    CHECK_FALSE(waiting.isReady());
}

TEST_CASE("waitOrError: the error of the signal ends it, its value does not") {
    test::Balance balance;
    Promise<int> value;
    Promise<Void> signal;
    Future<int> result = waitOrError(value.getFuture(), signal.getFuture());
    SUBCASE("value first") {
        value.send(3);
        CHECK(result.get() == 3);
        CHECK(signal.getFutureReferenceCount() == 0);
    }
    SUBCASE("error of the signal") {
        signal.sendError(io_error());
        CHECK(result.getError() == io_error());
        CHECK(value.getFutureReferenceCount() == 0);
    }
    SUBCASE("error of the value") {
        value.sendError(timed_out());
        CHECK(result.getError() == timed_out());
    }
    SUBCASE("value of the signal") {
        signal.send(Void());
        CHECK_FALSE(result.isReady());
        value.send(4);
        CHECK(result.get() == 4);
    }
    CHECK(waitOrError(Future<Void>(Void()), Future<Void>(io_error())).canGet());
}

TEST_CASE("reportErrors: traces an error that is not a cancel, and passes all on") {
    test::Balance balance;
    TraceMemory trace;
    CHECK(reportErrors(Future<int>(3), "Reading").get() == 3);
    Future<Void> waiting = reportErrors(Future<Void>(Never()), "Reading");
    waiting.cancel();
    CHECK(waiting.getError() == actor_cancelled());
    CHECK(trace.lines().empty());
    CHECK(reportErrors(Future<Void>(io_error()), "Reading", UID(1, 2)).getError() == io_error());
    REQUIRE(trace.lines().size() == 1);
    CHECK(trace.lines()[0].find("\"Type\":\"Reading\"") != std::string::npos);
    CHECK(trace.lines()[0].find("io_error") != std::string::npos);
}
