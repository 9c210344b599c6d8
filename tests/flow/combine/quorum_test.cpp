#include "flow/combine/quorum.h"

#include "flow/sim/sim_loop.h"
#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>

#include <vector>

using namespace flow;

TEST_CASE("quorum: so many of several; the rest runs on or is released") {
    test::Balance balance;
    SimLoop loop;
    for (Remaining remaining : {Remaining::RunOn, Remaining::Released}) {
        Promise<int> a, b, c;
        Future<Void> two = quorumOf(std::vector{a.getFuture(), b.getFuture(), c.getFuture()}, 2, remaining);
        a.send(1);
        CHECK(!two.isReady());
        c.send(3);
        CHECK(two.canGet());
        CHECK(b.getFutureReferenceCount() == (remaining == Remaining::RunOn ? 1 : 0));
        two = {};
        CHECK(b.getFutureReferenceCount() == 0);
    }
}

TEST_CASE("quorum: an error decides, or counts") {
    test::Balance balance;
    Promise<int> a, b;
    std::vector<Future<int>> both{a.getFuture(), b.getFuture()};
    Future<Void> strict = quorumOf(both, 2, Remaining::RunOn);
    Future<Void> lenient = quorumOf(both, 2, Remaining::RunOn, Errors::CountAsReady);
    a.sendError(io_error());
    CHECK(strict.getError() == io_error());
    CHECK(!lenient.isReady());
    b.send(1);
    CHECK(lenient.canGet());
}

TEST_CASE("quorum: of futures and times together") {
    test::Balance balance;
    SimLoop loop;
    Promise<int> never;
    Future<Void> first = quorumOf(1, Remaining::Released, WaitInput(never.getFuture()), WaitInput(delay(1.5)));
    loop.run(first);
    CHECK(loop.now() == 1.5);
    CHECK(never.getFutureReferenceCount() == 0);
}
