#include "flow/sync/trigger.h"

#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/sim/sim_loop.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/trace_log.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>

using namespace flow;

namespace {

Future<Void> hear(test::TraceLog* log, Trigger* trigger, std::string name, int times) {
    for (int i = 0; i < times; ++i) {
        co_await trigger->next();
        log->say(name);
    }
}

} // namespace

TEST_CASE("Trigger: resumes those that wait, oldest first, in turns of the loop, and is not kept for later") {
    test::Balance balance;
    SimLoop loop;
    test::TraceLog log;
    Trigger trigger;
    trigger.trigger();
    Future<Void> a = hear(&log, &trigger, "a", 2), b = hear(&log, &trigger, "b", 1);
    CHECK(trigger.isAwaited());
    trigger.trigger();
    trigger.trigger(); // the waiters have not come back
    CHECK(log.take() == "");
    loop.run(b);
    loop.run(delay(1));
    CHECK(log.take() == "a b");
    CHECK(!a.isReady());
    trigger.trigger();
    loop.run(a);
    CHECK(!trigger.isAwaited());
}

TEST_CASE("Trigger: next() that was called before trigger() is ready") {
    SimLoop loop;
    Trigger trigger;
    auto next = trigger.next();
    CHECK(!next.isReady());
    trigger.trigger();
    CHECK(next.isReady());
    CHECK(!trigger.next().isReady());
    loop.run([](Trigger::Next change) -> Future<Void> { co_await change; }(next));
}

TEST_CASE("Trigger: a waiter that is cancelled or loses a race leaves the others alone") {
    test::Balance balance;
    SimLoop loop;
    test::TraceLog log;
    Trigger trigger;
    Future<Void> a = hear(&log, &trigger, "a", 1), b = hear(&log, &trigger, "b", 1), c = hear(&log, &trigger, "c", 1);
    a.cancel();
    trigger.trigger();
    b.cancel(); // its turn has not come
    loop.run(c);
    CHECK(log.take() == "c");
    loop.run([](Trigger* t) -> Future<Void> {
        auto first = co_await race(t->next(), delay(1));
        CHECK(first.index() == 1);
    }(&trigger));
    CHECK(!trigger.isAwaited());
}

TEST_CASE("Trigger: priority, failure and destruction") {
    test::Balance balance;
    SimLoop loop;
    test::TraceLog log;
    auto trigger = std::make_unique<Trigger>();
    Future<Void> a = hear(&log, trigger.get(), "a", 1);
    auto other = [&]() -> Future<Void> {
        co_await delay(0, TaskPriority::Default);
        log.say("other");
    };
    trigger->trigger(TaskPriority::Low);
    Future<Void> others = other();
    loop.run(a);
    CHECK(log.take() == "other a");
    a = keep(trigger->next());
    trigger->fail(timed_out());
    CHECK(a.getError() == timed_out());
    a = keep(trigger->next());
    trigger.reset();
    CHECK(a.getError() == broken_promise());
}
