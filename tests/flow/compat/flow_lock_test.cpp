#include "flow/compat/flow_lock.h"

#include "flow/base/random.h"
#include "flow/coro/coroutine.h"
#include "flow/sim/sim_loop.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/death.h"
#include "tests/flow/support/trace_log.h"

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

using namespace flow;
using namespace flow::test;

namespace {

Future<Void> user(TraceLog& log, FlowLock& lock, std::string name, double seconds, std::int64_t amount = 1) {
    co_await lock.take(TaskPriority::DefaultYield, amount);
    FlowLock::Releaser releaser(lock, amount);
    log.say(name);
    co_await delay(seconds);
    log.say("~" + name);
}

} // namespace

TEST_CASE("FlowLock: free permits are taken at once, the rest first come, first served") {
    test::Balance balance;
    SimLoop loop;
    TraceLog log;
    FlowLock lock(2);
    std::vector<Future<Void>> users;
    for (const char* name : {"a", "b", "c", "d"})
        users.push_back(user(log, lock, name, 1));
    CHECK(log.take() == "a b");
    CHECK(lock.available() == 0);
    CHECK(lock.activePermits() == 2);
    CHECK(lock.waiters() == 2);
    loop.run();
    CHECK(log.take() == "~a ~b c d ~c ~d");
    CHECK(lock.available() == 2);
    CHECK(loop.now() == 2);
}

TEST_CASE("FlowLock: release() runs no other code, and a taker runs at its priority") {
    SimLoop loop;
    TraceLog log;
    FlowLock lock;
    Future<Void> held = lock.take();
    auto waitFor = [&](const char* name, TaskPriority priority) -> Future<Void> {
        std::string mine = name;
        co_await lock.take(priority);
        log.say(mine);
    };
    Future<Void> low = waitFor("low", TaskPriority::Low);
    lock.release();
    CHECK(log.take() == "");
    CHECK(lock.available() == 0); // on its way
    CHECK(lock.waiters() == 0);
    auto another = [&]() -> Future<Void> {
        co_await delay(0, TaskPriority::Default);
        log.say("default");
    };
    Future<Void> other = another();
    loop.run();
    CHECK(log.take() == "default low");
}

TEST_CASE("FlowLock: a take that fits goes past one that waits for more") {
    test::Balance balance;
    SimLoop loop;
    FlowLock lock(3);
    Future<Void> one = lock.take();
    Future<Void> all = lock.take(TaskPriority::DefaultYield, 3);
    Future<Void> oneMore = lock.take(); // of what holds one: it would wait for ever behind the other
    CHECK(oneMore.isReady());
    Future<Void> two = lock.take(TaskPriority::DefaultYield, 2);
    CHECK(lock.waiters() == 2);
    lock.release();
    loop.run();
    CHECK_FALSE(two.isReady()); // those that wait stay in order
    lock.release();
    loop.run();
    CHECK(all.isReady());
    CHECK_FALSE(two.isReady());
    lock.release(3);
    loop.run();
    CHECK(two.isReady());
    lock.release(2);
}

TEST_CASE("FlowLock: first come, first served: a small request waits behind a large one") {
    test::Balance balance;
    SimLoop loop;
    TraceLog log;
    FlowLock lock(3, FlowLock::Order::FirstComeFirstServed);
    std::vector<Future<Void>> users;
    users.push_back(user(log, lock, "a", 1, 2));
    users.push_back(user(log, lock, "large", 1, 3));
    users.push_back(user(log, lock, "small", 1));
    users.push_back(user(log, lock, "huge", 1, 9));
    CHECK(lock.available() == 1);
    loop.run();
    CHECK(log.take() == "a ~a large ~large small ~small huge ~huge");
    CHECK(lock.available() == 3);
}

TEST_CASE("FlowLock: the largest amount waits until no permit is held, and excludes all others") {
    test::Balance balance;
    SimLoop loop;
    std::int64_t everything = std::numeric_limits<std::int64_t>::max();
    FlowLock lock(2);
    Future<Void> one = lock.take();
    Future<Void> all = lock.take(TaskPriority::DefaultYield, everything);
    CHECK_FALSE(all.isReady());
    CHECK(lock.activePermits() == 1);
    lock.release();
    loop.run();
    CHECK(all.isReady());
    CHECK(lock.activePermits() == everything);
    Future<Void> another = lock.take();
    loop.run();
    CHECK_FALSE(another.isReady());
    lock.release(everything);
    loop.run();
    CHECK(another.isReady());
    CHECK(lock.activePermits() == 1);
    lock.release();
}

TEST_CASE("FlowLock: a dropped take loses nothing, wherever it stands") {
    test::Balance balance;
    SimLoop loop;
    FlowLock lock;
    Future<Void> holder = lock.take();
    Future<Void> first = lock.take();
    Future<Void> second = lock.take();
    SUBCASE("while it waits") {
        first = Future<Void>();
        CHECK(lock.waiters() == 1);
        lock.release();
        loop.run();
        CHECK(second.isReady());
    }
    SUBCASE("while the permit is on its way") {
        lock.release();
        first = Future<Void>();
        CHECK(lock.waiters() == 0);
        loop.run();
        CHECK(second.isReady());
        CHECK(lock.available() == 0);
    }
    SUBCASE("by an explicit cancel") {
        lock.release();
        first.cancel();
        CHECK(first.getError() == actor_cancelled());
        loop.run();
        CHECK(second.isReady());
    }
    lock.release();
    CHECK(lock.available() == 1);
}

TEST_CASE("FlowLock: those behind a large request move up when it is dropped") {
    SimLoop loop;
    FlowLock lock(2, FlowLock::Order::FirstComeFirstServed);
    Future<Void> holder = lock.take();
    Future<Void> large = lock.take(TaskPriority::DefaultYield, 2);
    Future<Void> small = lock.take(TaskPriority::DefaultYield, 1);
    CHECK_FALSE(small.isReady());
    large = Future<Void>();
    loop.run();
    CHECK(small.isReady());
}

TEST_CASE("FlowLock: Releasers") {
    SimLoop loop;
    FlowLock lock(5);
    Future<Void> taken = lock.take(TaskPriority::DefaultYield, 5);
    {
        FlowLock::Releaser all(lock, 5);
        all.release(2);
        CHECK(lock.available() == 2);
        CHECK(all.remaining == 3);
        FlowLock::Releaser moved = std::move(all);
        all.release();
        CHECK(lock.available() == 2);
        FlowLock::Releaser other;
        other = std::move(moved);
        other.release(100);
        CHECK(lock.available() == 5);
    }
    CHECK(lock.available() == 5);
    taken = lock.take();
    Promise<Void> signal;
    Future<Void> later = lock.releaseWhen(signal.getFuture());
    CHECK(lock.available() == 4);
    signal.send(Void());
    CHECK(lock.available() == 5);
    CHECK(later.isReady());
    taken = lock.take();
    later = lock.releaseWhen(Never());
    later = Future<Void>();
    CHECK(lock.available() == 5);
    CHECK_DIES(lock.release(), "more than has been taken");
}

TEST_CASE("FlowLock: takeUpTo() takes what is free, and at least one") {
    SimLoop loop;
    FlowLock lock(3);
    std::int64_t five = 5, two = 2, one = 1, more = 4;
    CHECK((lock.takeUpTo(five).canGet() && five == 3));
    Future<Void> waits = lock.takeUpTo(two), behind = lock.takeUpTo(more);
    CHECK((!waits.isReady() && lock.waiters() == 2));
    lock.release(2);
    loop.run();
    CHECK((waits.canGet() && two == 1 && behind.canGet() && more == 1));
    lock.release(3);
    CHECK((lock.takeUpTo(one).canGet() && one == 1 && lock.available() == 2));
    Future<Void> dropped = lock.takeUpTo(two = 7);
    CHECK(two == 2);
    waits = lock.takeUpTo(more);
    waits.cancel();
    lock.release(3);
    loop.run();
    CHECK((lock.available() == 3 && lock.waiters() == 0));
}

TEST_CASE("FlowLock: kill and destruction fail the waiters") {
    test::Balance balance;
    SimLoop loop;
    Future<Void> waiting, granted, later;
    {
        FlowLock lock;
        Future<Void> holder = lock.take();
        granted = lock.take();
        waiting = lock.take();
        lock.release();
        SUBCASE("kill") {
            lock.kill(timed_out());
            CHECK(granted.getError() == timed_out());
            CHECK(waiting.getError() == timed_out());
            CHECK(lock.take().getError() == timed_out());
            CHECK(lock.available() == 1);
            return;
        }
        SUBCASE("a failed waiter drops another") {
            auto dropper = [&](Future<Void> what) -> Future<Void> {
                (void)co_await tryGet(std::move(what));
                waiting = Future<Void>();
            };
            later = dropper(std::move(granted));
        }
        SUBCASE("destruction") {}
    }
    loop.run();
    if (waiting.isValid()) {
        CHECK(granted.getError() == broken_promise());
        CHECK(waiting.getError() == broken_promise());
    } else {
        CHECK(later.isReady());
    }
}

TEST_CASE("FlowLock: holders that outlive their loop release their permits") {
    test::Balance balance;
    TraceLog log;
    FlowLock lock(1);
    std::vector<Future<Void>> users;
    {
        SimLoop loop;
        for (const char* name : {"a", "b", "c"})
            users.push_back(user(log, lock, name, 100));
        loop.run(delay(1));
    }
    users.erase(users.begin());
    CHECK(lock.available() == 1);
    CHECK(lock.waiters() == 2);
    users.clear();
    CHECK(lock.available() == 1);
    CHECK(lock.waiters() == 0);
    CHECK(log.take() == "a");
}

TEST_CASE("FlowLock: random users, drops and releases never lose or invent a permit") {
    test::Balance balance;
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        SimLoop loop;
        DeterministicRandom random(seed);
        int permits = random.randomInt(1, 4), active = 0, done = 0;
        {
            FlowLock lock(permits);
            auto use = [&]() -> Future<Void> {
                co_await lock.take();
                FlowLock::Releaser releaser(lock);
                struct Count {
                    int& n;
                    ~Count() { --n; }
                } count{++active};
                CHECK(active <= permits);
                co_await delay(random.randomInt(0, 3));
                ++done;
            };
            std::vector<Future<Void>> users;
            for (int step = 0; step < 200; ++step) {
                users.push_back(use());
                if (random.randomInt(0, 3) == 0)
                    users[static_cast<std::size_t>(random.randomInt(0, static_cast<int>(users.size())))] = Void();
                if (random.randomInt(0, 4) == 0)
                    loop.run(delay(random.randomInt(0, 2)));
            }
            loop.run();
            for (Future<Void> const& future : users)
                CHECK(future.isReady());
            CHECK(lock.available() == permits);
            CHECK(lock.waiters() == 0);
            CHECK(active == 0);
            CHECK(done > 50);
        }
    }
}
