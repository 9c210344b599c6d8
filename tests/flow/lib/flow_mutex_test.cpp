#include "flow/lib/flow_mutex.h"

#include "flow/sim/sim_loop.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/death.h"
#include "tests/flow/support/trace_log.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

using namespace flow;
using namespace flow::test;

TEST_CASE("FlowMutex: one at a time, in order") {
    ::test::Balance balance;
    SimLoop loop;
    TraceLog log;
    FlowMutex mutex;
    auto use = [&](std::string name) -> Future<Void> {
        std::string mine = name;
        FlowMutex::Lock lock = co_await mutex.take();
        log.say(mine);
        co_await delay(1);
        log.say("~" + mine);
    };
    std::vector<Future<Void>> users;
    CHECK(mutex.available());
    for (const char* name : {"a", "b", "c"})
        users.push_back(use(name));
    CHECK_FALSE(mutex.available());
    CHECK(mutex.waiters() == 2);
    users[1] = Future<Void>();
    loop.run();
    CHECK(log.take() == "a ~a c ~c");
    CHECK(mutex.available());
}

TEST_CASE("FlowMutex: held until the last copy of the lock dies, or release()") {
    ::test::Balance balance;
    SimLoop loop;
    FlowMutex mutex;
    Future<FlowMutex::Lock> next;
    {
        FlowMutex::Lock lock = mutex.take().get();
        FlowMutex::Lock copy = lock;
        next = mutex.take();
        lock = FlowMutex::Lock();
        loop.run();
        CHECK_FALSE(next.isReady());
    }
    loop.run();
    REQUIRE(next.isReady());
    FlowMutex::Lock lock = next.get();
    lock.release();
    lock.release();
    CHECK(mutex.available());
    FlowMutex::Lock().release();
}

TEST_CASE("FlowMutex: a lock that arrives and is never looked at gives the mutex back") {
    ::test::Balance balance;
    SimLoop loop;
    FlowMutex mutex;
    Future<FlowMutex::Lock> one = mutex.take();
    Future<FlowMutex::Lock> two = mutex.take();
    Future<FlowMutex::Lock> three = mutex.take();
    one = Future<FlowMutex::Lock>();
    two = Future<FlowMutex::Lock>(); // while it is on its way
    loop.run();
    CHECK(three.isReady());
    three = Future<FlowMutex::Lock>();
    CHECK(mutex.available());
}

TEST_CASE("FlowMutex: a lock outlives the mutex; those who wait fail") {
    ::test::Balance balance;
    SimLoop loop;
    std::optional<FlowMutex> mutex(std::in_place);
    FlowMutex::Lock lock = mutex->take().get();
    Future<FlowMutex::Lock> next = mutex->take();
    mutex.reset();
    CHECK(next.getError() == broken_promise());
    lock.release();
}

TEST_CASE("FlowMutex: error() fails those who wait and those who come later") {
    ::test::Balance balance;
    SimLoop loop;
    FlowMutex mutex;
    FlowMutex::Lock().error();
    FlowMutex::Lock lock = mutex.take().get();
    FlowMutex::Lock copy = lock;
    Future<FlowMutex::Lock> next = mutex.take(), afterwards = mutex.take();
    copy.error(timed_out());
    CHECK(next.getError() == timed_out());
    CHECK(afterwards.getError() == timed_out());
    CHECK(mutex.take().getError() == timed_out());
    lock.error();
    CHECK(mutex.take().getError() == timed_out());
    FlowMutex other;
    lock = other.take().get();
    lock.release();
    lock.error();
    CHECK(other.take().canGet());
}

TEST_CASE("FlowMutex: one that was moved from says so, and a Lock that was moved from holds nothing") {
    ::test::Balance balance;
    SimLoop loop;
    FlowMutex mutex;
    FlowMutex::Lock lock = mutex.take().get();
    FlowMutex moved = std::move(mutex);
    CHECK_DIES((void)mutex.take(), "the FlowMutex is invalid: it was moved from");
    CHECK_DIES((void)mutex.available(), "it was moved from");
    CHECK_DIES((void)mutex.waiters(), "it was moved from");
    FlowMutex::Lock holder = std::move(lock);
    lock.release();
    lock.error();
    CHECK_FALSE(moved.available());
    holder.release();
    CHECK(moved.available());
}
