#include "flow/compat/outcome.h"

#include "flow/loop/real_loop.h"
#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>

using namespace flow;

namespace {

/// Some values that come when the test says so.
struct Votes {
    std::vector<Promise<bool>> promises = std::vector<Promise<bool>>(3);
    std::vector<Future<bool>> futures() const {
        std::vector<Future<bool>> all;
        for (Promise<bool> const& each : promises)
            all.push_back(each.getFuture());
        return all;
    }
    void send(std::size_t index, bool value) const { promises[index].send(value); }
};

template <class T>
int codeOf(Future<T> const& future) {
    return future.isError() ? future.getError().code() : 0;
}

} // namespace

TEST_CASE("outcome: what becomes of one future") {
    test::Balance balance;
    CHECK(ready(Future<int>(7)).canGet());
    CHECK(ready(Future<int>(io_error())).canGet());
    CHECK(!ready(Future<int>(Never())).isReady());
    CHECK(tag(Future<Void>(Void()), 7).get() == 7);
    CHECK(codeOf(tag(Future<Void>(io_error()), 7)) == error_code_io_error);
    CHECK(codeOf(tagError<int>(Future<Void>(Void()), timed_out())) == error_code_timed_out);
    CHECK(!tagError<int>(Future<Void>(Never()), timed_out()).isReady());
    CHECK(onEqual(Future<int>(7), 7).canGet());
    CHECK(!onEqual(Future<int>(7), 8).isReady());
    CHECK(codeOf(onEqual(Future<int>(io_error()), 8)) == error_code_io_error);
    CHECK(returnIfTrue(Future<bool>(true)).canGet());
    CHECK(!returnIfTrue(Future<bool>(false)).isReady());
    CHECK(fmap([](int value) { return value + 1; }, Future<int>(7)).get() == 8);
}

TEST_CASE("outcome: other errors") {
    test::Balance balance;
    CHECK(transformErrors(Future<int>(7), timed_out()).get() == 7);
    CHECK(codeOf(transformErrors(Future<int>(io_error()), timed_out())) == error_code_timed_out);
    CHECK(codeOf(transformErrors(Future<Void>(actor_cancelled()), timed_out())) == error_code_actor_cancelled);
    CHECK(codeOf(transformError(Future<int>(io_error()), io_error(), timed_out())) == error_code_timed_out);
    CHECK(codeOf(transformError(Future<int>(key_too_large()), io_error(), timed_out())) == error_code_key_too_large);
    CHECK(throwErrorOr(Future<ErrorOr<int>>(ErrorOr<int>(7))).get() == 7);
    CHECK(codeOf(throwErrorOr(Future<ErrorOr<int>>(ErrorOr<int>(io_error())))) == error_code_io_error);
}

TEST_CASE("outcome: votes are decided as soon as they can be") {
    test::Balance balance;
    {
        Votes votes;
        Future<bool> most = quorumEqualsTrue(votes.futures(), 2), any = shortCircuitAny(votes.futures());
        votes.send(0, false);
        CHECK(!most.isReady());
        CHECK(!any.isReady());
        votes.send(1, true);
        CHECK(any.get());
        CHECK(!most.isReady());
        votes.send(2, true);
        CHECK(most.get());
    }
    {
        Votes votes;
        Future<bool> most = quorumEqualsTrue(votes.futures(), 2), any = shortCircuitAny(votes.futures());
        votes.send(0, false);
        votes.send(1, false);
        CHECK(!most.get());
        CHECK(!any.isReady());
        votes.promises[2].sendError(io_error());
        CHECK(codeOf(any) == error_code_io_error);
    }
    CHECK(quorumEqualsTrue({}, 0).get());
    CHECK(!shortCircuitAny({}).get());
}

TEST_CASE("outcome: variables that are set, and values for many") {
    test::Balance balance;
    RealLoop loop;
    auto variable = makeReference<AsyncVar<int>>(0);
    loop.run(setAfter(variable, 0.001, 7));
    CHECK(variable->get() == 7);
    loop.run(setWhenDoneOrError(Future<Void>(io_error()), variable, 8));
    CHECK(variable->get() == 8);
    std::vector<Promise<int>> many(2);
    Future<int> first = many[0].getFuture(), second = many[1].getFuture();
    loop.run(broadcast(Future<int>(9), many));
    CHECK(first.get() == 9);
    CHECK(second.get() == 9);
    loop.run(lowPriorityDelay(0.001));
}
