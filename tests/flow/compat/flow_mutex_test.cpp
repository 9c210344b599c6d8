#include "flow/compat/flow_mutex.h"

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
    test::Balance balance;
    SimLoop loop;
    TraceLog log;
    FlowMutex mutex;
    auto use = [&](std::string name) -> Future<Void> {
        std::string mine = name;
        FlowMutex::Lock lock = co_await mutex.take();
        log.say(mine);
        co_await delay(1);
        log.say("~" + mine);
        lock.release();
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

TEST_CASE("FlowMutex: held until release(), of whichever copy") {
    test::Balance balance;
    SimLoop loop;
    FlowMutex mutex;
    FlowMutex::Lock lock = mutex.take().get();
    FlowMutex::Lock copy = lock;
    Future<FlowMutex::Lock> next = mutex.take();
    lock = FlowMutex::Lock();
    loop.run();
    CHECK_FALSE(next.isReady());
    copy.release();
    loop.run();
    REQUIRE(next.isReady());
    lock = next.get();
    lock.release();
    lock.release();
    CHECK(mutex.available());
    FlowMutex::Lock().release();
}

TEST_CASE("FlowMutex: a lock that is dropped without release() breaks the mutex") {
    test::Balance balance;
    SimLoop loop;
    FlowMutex mutex;
    Future<FlowMutex::Lock> next, last;
    {
        FlowMutex::Lock lock = mutex.take().get();
        SUBCASE("takes that wait") {
            next = mutex.take();
            last = mutex.take();
        }
        SUBCASE("takes that come later") {}
    }
    if (!next.isValid())
        next = mutex.take();
    CHECK(next.getError() == broken_promise());
    if (!last.isValid())
        last = mutex.take();
    CHECK(last.getError() == broken_promise());
    CHECK_FALSE(mutex.available());
}

TEST_CASE("FlowMutex: an actor that fails while it holds the lock breaks the mutex") {
    test::Balance balance;
    SimLoop loop;
    FlowMutex mutex;
    auto use = [&](bool fails) -> Future<Void> {
        FlowMutex::Lock lock = co_await mutex.take();
        co_await delay(1);
        if (fails)
            throw io_error();
        lock.release();
    };
    Future<Void> good = use(false), bad = use(true), afterwards = use(false);
    loop.run();
    CHECK(good.canGet());
    CHECK(bad.getError() == io_error());
    CHECK(afterwards.getError() == broken_promise());
}

TEST_CASE("FlowMutex: a take that is dropped before it is ready gives the mutex on") {
    test::Balance balance;
    SimLoop loop;
    FlowMutex mutex;
    FlowMutex::Lock lock = mutex.take().get();
    Future<FlowMutex::Lock> one = mutex.take();
    Future<FlowMutex::Lock> two = mutex.take();
    Future<FlowMutex::Lock> three = mutex.take();
    one = Future<FlowMutex::Lock>();
    lock.release();
    two = Future<FlowMutex::Lock>(); // while it is on its way
    loop.run();
    REQUIRE(three.isReady());
    lock = three.get();
    lock.release();
    CHECK(mutex.available());
}

TEST_CASE("FlowMutex: locks and takes that wait outlive the mutex") {
    test::Balance balance;
    SimLoop loop;
    std::optional<FlowMutex> mutex(std::in_place);
    FlowMutex::Lock lock = mutex->take().get();
    Future<FlowMutex::Lock> next = mutex->take();
    mutex.reset();
    CHECK_FALSE(next.isReady());
    lock.release();
    loop.run();
    CHECK(next.canGet());
}

TEST_CASE("FlowMutex: error() is for what waits longest; the others and those that come later get broken_promise") {
    test::Balance balance;
    SimLoop loop;
    FlowMutex mutex;
    FlowMutex::Lock().error();
    FlowMutex::Lock lock = mutex.take().get();
    FlowMutex::Lock copy = lock;
    Future<FlowMutex::Lock> next = mutex.take(), afterwards = mutex.take();
    copy.error(timed_out());
    CHECK(next.getError() == timed_out());
    CHECK(afterwards.getError() == broken_promise());
    CHECK(mutex.take().getError() == broken_promise());
    lock.error();
    FlowMutex other;
    lock = other.take().get();
    lock.release();
    lock.error();
    CHECK(other.take().canGet());
}

TEST_CASE("FlowMutex: one that was moved from says so, and a Lock that was moved from holds nothing") {
    test::Balance balance;
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
