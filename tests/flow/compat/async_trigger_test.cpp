#include "flow/compat/async_trigger.h"

#include "flow/coro/coroutine.h"
#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>

#include <memory>

using namespace flow;

TEST_CASE("AsyncTrigger: resumes current waiters, and is not remembered") {
    test::Balance balance;
    AsyncTrigger trigger;
    trigger.trigger();
    Future<Void> a = trigger.onTrigger();
    Future<Void> b = trigger.onTrigger();
    CHECK_FALSE(a.isReady());
    CHECK(trigger.isAwaited());
    trigger.trigger();
    CHECK(a.canGet());
    CHECK(b.canGet());
    CHECK_FALSE(trigger.isAwaited());
    Future<Void> c = trigger.onTrigger();
    CHECK_FALSE(c.isReady());
    trigger.sendError(timed_out());
    CHECK(c.getError() == timed_out());
    c = trigger.onTrigger();
    c = Future<Void>();
    CHECK_FALSE(trigger.isAwaited());
}

TEST_CASE("AsyncTrigger: a resumed waiter may wait again, or destroy it") {
    test::Balance balance;
    auto trigger = std::make_unique<AsyncTrigger>();
    int woken = 0;
    auto follow = [&]() -> Future<Void> {
        for (;;) {
            co_await trigger->onTrigger();
            if (++woken == 3)
                trigger.reset();
            if (!trigger)
                co_return;
        }
    };
    Future<Void> follower = follow();
    for (int i = 1; i <= 3; ++i) {
        trigger->trigger();
        CHECK(woken == i);
    }
    CHECK(follower.canGet());
}

TEST_CASE("AsyncTrigger: destruction breaks, a move takes the waiters along") {
    test::Balance balance;
    Future<Void> a, b;
    {
        AsyncTrigger one, two;
        a = one.onTrigger();
        b = two.onTrigger();
        two = std::move(one);
        CHECK(b.getError() == broken_promise());
        one.trigger();
        CHECK_FALSE(a.isReady());
        AsyncTrigger three(std::move(two));
        three.trigger();
        CHECK(a.canGet());
        a = three.onTrigger();
    }
    CHECK(a.getError() == broken_promise());
}

TEST_CASE("trigger: calls once, when the signal comes") {
    test::Balance balance;
    int calls = 0;
    auto count = [&] { ++calls; };
    Promise<Void> signal;
    Future<Void> done = trigger(count, signal.getFuture());
    CHECK_FALSE(done.isReady());
    signal.send(Void());
    CHECK(calls == 1);
    CHECK(done.canGet());
    CHECK(trigger(count, timed_out()).getError() == timed_out());
    CHECK(trigger([] { throw io_error(); }, Void()).getError() == io_error());
    Promise<Void> other;
    done = trigger(count, other.getFuture());
    done = Future<Void>();
    other.send(Void());
    CHECK(calls == 1);
}
