#include "flow/sync/semaphore.h"

#include "flow/base/random.h"
#include "flow/combine/all.h"
#include "flow/combine/race.h"
#include "flow/sim/sim_loop.h"
#include "flow/tasks/task.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/death.h"
#include "tests/flow/support/trace_log.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {
using namespace flow;

struct Load {
    int now = 0;
    int most = 0;
};

Fork<> useMutex(Context, Mutex* mutex, Load* load) {
    for (int i = 0; i < 3; ++i) {
        Mutex::Lock lock = co_await mutex->lock();
        load->most = std::max(load->most, ++load->now);
        co_await delay(1);
        --load->now;
    }
}
Fork<> useSemaphore(Context, Semaphore* semaphore, Load* load) {
    co_await semaphore->acquire();
    load->most = std::max(load->most, ++load->now);
    co_await delay(1);
    --load->now;
    semaphore->release();
}

// The operation has the result Void: co_await gives nothing of it.
Future<Void> passOnPermit(Semaphore& places) {
    co_return co_await places.acquire();
}

TEST_CASE("a coroutine of Future<Void> may co_return the co_await of an operation") {
    Semaphore places(1);
    CHECK(passOnPermit(places).isReady());
    CHECK(!passOnPermit(places).isReady());
}

TEST_CASE("a mutex is held by one at a time") {
    SimLoop loop;
    Mutex mutex;
    Load load;
    auto root = [](Context, Mutex* m, Load* l) -> Task<> {
        Context here = co_await context();
        for (int i = 0; i < 4; ++i)
            (void)useMutex(here, m, l);
    };
    loop.run(start(root(Environment(), &mutex, &load)));
    CHECK(load.most == 1);
    CHECK(!mutex.isLocked());
    CHECK(loop.now() == 12);
}

TEST_CASE("a lock is given back by a cancel") {
    SimLoop loop;
    Mutex mutex;
    Load load;
    auto root = [](Context, Mutex* m, Load* l) -> Task<> {
        Fork<> holder = useMutex(co_await context(), m, l);
        co_await holder;
    };
    Future<Void> running = start(root(Environment(), &mutex, &load));
    CHECK(mutex.isLocked());
    running.cancel();
    CHECK(!mutex.isLocked());
}

TEST_CASE("as many hold a semaphore as it has permits") {
    SimLoop loop;
    Semaphore semaphore(0);
    Load load;
    auto root = [](Context, Semaphore* s, Load* l) -> Task<> {
        Context here = co_await context();
        for (int i = 0; i < 9; ++i)
            (void)useSemaphore(here, s, l);
        co_await delay(1);
        CHECK(l->most == 0);
        s->release(3);
    };
    loop.run(start(root(Environment(), &semaphore, &load)));
    CHECK(load.most == 3);
    CHECK(semaphore.permits() == 3);
    CHECK(loop.now() == 4);
}

TEST_CASE("what loses a race has taken no permit") {
    SimLoop loop;
    Semaphore semaphore(0);
    loop.run([](Semaphore* s) -> Future<Void> {
        auto first = co_await race(s->acquire(), delay(1));
        CHECK(first.index() == 1);
        s->release();
        CHECK(s->tryAcquire());
        CHECK(!s->tryAcquire());
    }(&semaphore));
    Mutex mutex;
    loop.run([](Mutex* m) -> Future<Void> {
        {
            Mutex::Lock held = co_await m->lock();
            auto first = co_await race(m->lock(), delay(1));
            CHECK(first.index() == 1);
        }
        auto second = co_await race(m->lock(), delay(1)); // its lock is given back with the result
        CHECK(second.index() == 0);
    }(&mutex));
    loop.run([](Mutex* m) -> Future<Void> {
        auto first = co_await race(m->lock(), delay(1));
        CHECK(first.index() == 0);
    }(&mutex));
}

Future<Void> hold(test::TraceLog* log, Semaphore* semaphore, std::size_t permits, std::string name, double seconds) {
    Semaphore::Permit permit = co_await semaphore->permit(permits);
    log->say(name);
    co_await delay(seconds);
    log->say("~" + name);
}

TEST_CASE("several permits are taken together, in order, and given back by the end, an error or a cancel") {
    test::Balance balance;
    SimLoop loop;
    test::TraceLog log;
    Semaphore semaphore(3);
    {
        Future<Void> a = hold(&log, &semaphore, 2, "a", 1), large = hold(&log, &semaphore, 3, "large", 1);
        Future<Void> small = hold(&log, &semaphore, 1, "small", 1), last = hold(&log, &semaphore, 3, "last", 9);
        CHECK(log.take() == "a");
        CHECK(semaphore.permits() == 1);
        CHECK(semaphore.waiters() == 3);
        CHECK(!semaphore.tryAcquire()); // others wait
        loop.run(delay(3.5));
        CHECK(log.take() == "~a large ~large small ~small last");
        last.cancel();
    }
    CHECK(semaphore.available() == 3);
    CHECK(semaphore.tryAcquire(3));
    CHECK(!semaphore.tryAcquire());
}

TEST_CASE("an acquire() that leaves makes room for those behind it") {
    test::Balance balance;
    SimLoop loop;
    Semaphore semaphore(2);
    CHECK(semaphore.tryAcquire());
    SUBCASE("by a cancel") {
        Future<Void> large = keep(semaphore.acquire(2)), small = keep(semaphore.acquire());
        Future<Void> third = keep(semaphore.acquire());
        large.cancel();
        CHECK(semaphore.available() == 0); // on its way
        CHECK(semaphore.waiters() == 1);
        loop.run(small);
        CHECK(!third.isReady());
        small = third = Never();
    }
    SUBCASE("by a lost race") {
        Future<Void> large = [](Semaphore* s) -> Future<Void> {
            auto first = co_await race(s->acquire(2), delay(1));
            CHECK(first.index() == 1);
        }(&semaphore);
        Future<Void> small = keep(semaphore.acquire());
        loop.run(delay(0.5));
        CHECK(!small.isReady());
        loop.run(small);
        CHECK(loop.now() == 1);
    }
    SUBCASE("in a coroutine, a task and with the permits on their way") {
        auto wait = [](Context, Semaphore* s) -> Task<> { co_await s->acquire(2); };
        Future<Void> large = start(wait(Environment(), &semaphore)), small = keep(semaphore.acquire(2));
        semaphore.release();
        CHECK(semaphore.available() == 0);
        large.cancel();
        loop.run(small);
        semaphore.release(2);
        CHECK(semaphore.tryAcquire());
    }
    semaphore.release();
    CHECK(semaphore.available() >= 1);
}

TEST_CASE("what fits does not queue, and those that wait keep their order") {
    SimLoop loop;
    Semaphore semaphore(3, Semaphore::Order::WhatFits);
    CHECK(semaphore.tryAcquire());
    Future<Void> all = keep(semaphore.acquire(3)), two = keep(semaphore.acquire(2)), three = keep(semaphore.acquire(3));
    CHECK(two.isReady()); // it fitted
    two = keep(semaphore.acquire(2));
    CHECK(semaphore.waiters() == 3);
    semaphore.release(3);
    CHECK(!semaphore.tryAcquire()); // all are on their way
    loop.run(all);
    CHECK(!three.isReady());
    semaphore.release(3);
    loop.run(three);
    CHECK(!two.isReady());
    semaphore.release(3);
    loop.run(two);
}

TEST_CASE("close() fails the waiters, oldest first, and all later ones; permits still come back") {
    test::Balance balance;
    SimLoop loop;
    auto semaphore = std::make_unique<Semaphore>(1);
    Semaphore::Permit permit;
    auto take = [](Semaphore* from, Semaphore::Permit* to) -> Future<Void> { *to = co_await from->permit(); };
    loop.run(take(semaphore.get(), &permit));
    Future<Void> one = keep(semaphore->acquire()), two = keep(semaphore->acquire(2));
    semaphore->close(io_error(), timed_out());
    CHECK(one.getError() == io_error());
    CHECK(two.getError() == timed_out());
    CHECK(keep(semaphore->acquire()).getError() == timed_out());
    CHECK(!semaphore->tryAcquire());
    CHECK(permit.isHeld());
    permit.release();
    permit.release();
    CHECK(semaphore->permits() == 1);
    CHECK(keep(semaphore->acquire()).getError() == timed_out());
    auto other = std::make_unique<Semaphore>(0);
    one = keep(other->acquire());
    other.reset();
    CHECK(one.getError() == broken_promise());
}

TEST_CASE("a number of permits that is none ends the program with the caller's line") {
    Semaphore semaphore(1);
    std::size_t none = 0;
    CHECK_DIES((void)semaphore.acquire(none - 1), "semaphore_test.cpp");
    CHECK_DIES((void)semaphore.permit(none - 1), "semaphore_test.cpp");
    CHECK_DIES((void)semaphore.tryAcquire(none - 1), "semaphore_test.cpp");
    CHECK_DIES(semaphore.release(none - 1), "semaphore_test.cpp");
}

TEST_CASE("a Semaphore or Mutex that is destroyed while something holds it ends a program with assertions") {
    SimLoop loop;
    if (!FLOW_CHECKED)
        return;
    CHECK_DIES(
        {
            std::optional<Mutex> mutex(std::in_place);
            Mutex::Lock held = loop.run(keep(mutex->lock()));
            mutex.reset();
        },
        "destroyed while a Permit or Lock of it is held");
}

TEST_CASE("a waiter resumes at its priority, and none waits for one of a lower priority") {
    SimLoop loop;
    test::TraceLog log;
    Semaphore semaphore(0);
    auto wait = [&](TaskPriority priority, std::string name) -> Future<Void> {
        std::string mine = name;
        co_await semaphore.acquire(1, priority);
        log.say(mine);
    };
    auto other = [&]() -> Future<Void> {
        co_await delay(0, TaskPriority::Default);
        log.say("other");
    };
    Future<Void> low = wait(TaskPriority::Low, "low");
    semaphore.release();
    Future<Void> others = other();
    loop.run();
    CHECK(log.take() == "other low");
    low = wait(TaskPriority::Low, "low");
    Future<Void> high = wait(TaskPriority::ReadSocket, "high");
    semaphore.release(2);
    others = other();
    loop.run();
    CHECK(log.take() == "low high other");
}

TEST_CASE("random users of random numbers of permits, races and cancels lose and invent none, and none waits in vain") {
    test::Balance balance;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        CAPTURE(seed);
        SimLoop loop;
        DeterministicRandom random(seed);
        int permits = random.randomInt(1, 5), held = 0, done = 0;
        Semaphore semaphore(static_cast<std::size_t>(permits),
                            seed % 2 == 0 ? Semaphore::Order::WhatFits : Semaphore::Order::FirstComeFirstServed);
        auto use = [&](int many, bool gives) -> Future<Void> {
            int mine = many;
            auto first = co_await race(semaphore.permit(static_cast<std::size_t>(mine)), delay(gives ? 0.7 : 1e6));
            if (first.index() == 1)
                co_return;
            struct Count {
                int& n;
                int mine;
                ~Count() { n -= mine; }
            } count{held += mine, mine};
            CHECK(held <= permits);
            co_await delay(random.randomInt(0, 3));
            ++done;
        };
        std::vector<Future<Void>> users;
        for (int step = 0; step < 150; ++step) {
            users.push_back(use(random.randomInt(1, permits + 1), random.randomInt(0, 3) == 0));
            if (random.randomInt(0, 3) == 0)
                users[static_cast<std::size_t>(random.randomInt(0, static_cast<int>(users.size())))] = Void();
            if (random.randomInt(0, 4) == 0)
                loop.run(delay(random.randomInt(0, 2)));
        }
        loop.run();
        for (Future<Void> const& future : users)
            CHECK(future.isReady());
        CHECK(semaphore.available() == permits);
        CHECK(semaphore.waiters() == 0);
        CHECK(held == 0);
        CHECK(done > 20);
    }
}

} // namespace
