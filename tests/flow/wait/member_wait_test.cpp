#include "flow/wait/member_wait.h"

#include "flow/core/operation.h"
#include "flow/sim/sim_loop.h"
#include "flow/wait/source.h"
#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>

#include <optional>

using namespace flow;

namespace {

struct Doubled : Operation<Doubled, int> {
    explicit Doubled(Future<int> input) {
        if (input.isReady())
            go(input);
        else
            step.waitFor(std::move(input));
    }
    void go(Future<int> ready) {
        if (ready.isError())
            fail(ready.getError());
        else
            complete(2 * ready.get());
    }

    MemberWait step{*this, [](Doubled& self) { self.go(self.step.take<int>()); }};
};

struct Tickets {
    struct Take {
        using Result = int;
        Tickets* tickets;
        bool isReady() const { return tickets->free != 0; }
        void park(WaiterNode& waiter) { tickets->source.park(waiter, *this); }
        int take() const { return tickets->free--; }
    };
    int free = 0;
    Source<Take> source;
};

struct Taker {
    explicit Taker(Tickets& tickets) : op{&tickets} { step.waitFor(op); }
    void go() {
        failure = step.takeFailure();
        if (!failure.isValid())
            number = op.take();
    }
    Tickets::Take op;
    Error failure;
    int number = 0;
    MemberWait step{*this, [](Taker& self) { self.go(); }};
};

} // namespace

TEST_CASE("step: an operation made of a future") {
    test::Balance balance;
    CHECK(start<Doubled>(4).get() == 8);
    Promise<int> promise;
    Future<int> doubled = start<Doubled>(promise.getFuture());
    CHECK(!doubled.isReady());
    promise.send(5);
    CHECK(doubled.get() == 10);
    promise = {};
    doubled = start<Doubled>(promise.getFuture());
    promise.sendError(io_error());
    CHECK(doubled.getError() == io_error());
    promise = {};
    doubled = start<Doubled>(promise.getFuture());
    doubled = {};
    CHECK(promise.getFutureReferenceCount() == 0);
}

TEST_CASE("step: waits for an operation in place, is cancelled, and gets a failure") {
    test::Balance balance;
    SimLoop loop;
    std::optional<Tickets> tickets;
    tickets.emplace();
    Taker first(*tickets), second(*tickets), third(*tickets);
    first.step.cancel();
    CHECK(!first.step.isWaiting());
    tickets->free = 7;
    tickets->source.wakeInTurn();
    loop.run();
    CHECK(first.number == 0);
    CHECK(second.number == 7);
    CHECK(third.number == 6);
    tickets->free = 0;
    Taker last(*tickets);
    tickets.reset();
    CHECK(last.failure == broken_promise());
}
