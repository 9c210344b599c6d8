#include "flow/combine/first_of.h"

#include "flow/sim/sim_loop.h"
#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>

#include <string>

using namespace flow;

TEST_CASE("firstOf: the first value, and which one it is") {
    test::Balance balance;
    Promise<std::string> p, q, r;
    Future<FirstOf<std::string>> first = firstOf(std::vector{p.getFuture(), q.getFuture(), r.getFuture()});
    CHECK_FALSE(first.isReady());
    q.send("q");
    CHECK(first.get().index == 1);
    CHECK(first.get().value == "q");
    CHECK(p.getFutureReferenceCount() == 0);
    CHECK(firstOf(std::vector<Future<int>>{Never(), 5, 6}).get().index == 1);
    CHECK(firstOf(std::vector<Future<Void>>{Never(), Void()}).get().index == 1);
}

TEST_CASE("firstOf: the losers have given nothing when what waits for the result runs") {
    test::Balance balance;
    Promise<int> p, q;
    Future<int> kept = q.getFuture();
    Future<Void> waiter = [](std::vector<Future<int>> both, Promise<int>* loser) -> Future<Void> {
        FirstOf<int> first = co_await firstOf(std::move(both));
        CHECK(first.index == 0);
        CHECK(loser->getFutureReferenceCount() == 1);
        loser->send(2);
    }({p.getFuture(), kept}, &q);
    p.send(1);
    CHECK(waiter.isReady());
    CHECK(kept.get() == 2);
}

TEST_CASE("firstOf: an error that comes first; a drop; of none none is the first") {
    test::Balance balance;
    Promise<int> p, q;
    Future<FirstOf<int>> first = firstOf(std::vector{p.getFuture(), q.getFuture()});
    q.sendError(timed_out());
    CHECK(first.getError() == timed_out());
    CHECK(p.getFutureReferenceCount() == 0);
    first = firstOf(std::vector{p.getFuture()});
    CHECK(p.getFutureReferenceCount() > 0);
    first.cancel();
    CHECK(first.getError() == actor_cancelled());
    CHECK(p.getFutureReferenceCount() == 0);
    CHECK_FALSE(firstOf(std::vector<Future<int>>()).isReady());
}
