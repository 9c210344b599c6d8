#include "flow/sync/semaphore.h"

#include "flow/combine/race.h"
#include "flow/sim/sim_loop.h"
#include "flow/tasks/task.h"
#include "flow/wait/delay.h"

#include <algorithm>
#include <doctest/doctest.h>

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

} // namespace
