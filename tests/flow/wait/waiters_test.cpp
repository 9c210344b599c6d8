// Locks and channels: one that comes back at once does not overtake those that wait.

#include "flow/compat/flow_lock.h"
#include "flow/compat/flow_mutex.h"
#include "flow/coro/coroutine.h"
#include "flow/sim/sim_loop.h"
#include "flow/sync/channel.h"
#include "flow/sync/semaphore.h"
#include "flow/wait/delay.h"

#include <doctest/doctest.h>
#include <vector>

using namespace flow;

namespace {

constexpr int kWaiters = 3;
constexpr int kMostRounds = 10'000; // of one that starves the others: the test ends with a failure

struct OfMutex {
    Mutex mutex;
    Mutex::Lock held;
    Future<Void> enter() { held = co_await mutex.lock(); }
    Future<Void> leave() {
        held.unlock();
        return Void();
    }
};
template <int kPermits>
struct OfSemaphore {
    Semaphore semaphore{kPermits};
    Future<Void> enter() { co_await semaphore.acquire(); }
    Future<Void> leave() {
        semaphore.release();
        return Void();
    }
};
struct OfFlowLock {
    FlowLock lock;
    Future<Void> enter() { return lock.take(); }
    Future<Void> leave() {
        lock.release();
        return Void();
    }
};
struct OfFlowMutex {
    FlowMutex mutex;
    FlowMutex::Lock held;
    Future<Void> enter() { held = co_await mutex.take(); }
    Future<Void> leave() {
        held.release();
        return Void();
    }
};
/// One that sends when there is room again.
template <int kCapacity>
struct OfSending {
    Channel<int> channel{kCapacity};
    Future<Void> emptying = empty(&channel);
    Future<Void> enter() { co_await channel.send(1); }
    Future<Void> leave() { return Void(); }
    static Future<Void> empty(Channel<int>* channel) {
        for (;;) {
            co_await delay(0.01);
            (void)co_await channel->receive();
        }
    }
};
template <int kCapacity>
struct OfReceiving {
    Channel<int> channel{kCapacity};
    Future<Void> filling = fill(&channel);
    Future<Void> enter() { (void)co_await channel.receive(); }
    Future<Void> leave() { return Void(); }
    static Future<Void> fill(Channel<int>* channel) {
        for (;;) {
            co_await delay(0.01);
            co_await channel->send(1);
        }
    }
};

/// One that takes a value out, and at once puts one in, into a channel that is full.
struct OfRequeueing {
    Channel<int> channel{2};
    Future<Void> filling = fill(&channel);
    Future<Void> enter() { co_await channel.send(1); }
    Future<Void> leave() { (void)co_await channel.receive(); }
    static Future<Void> fill(Channel<int>* channel) { co_await channel->send(1); }
};
/// One that puts a value in, and at once takes one out.
struct OfTakingBack {
    Channel<int> channel{2};
    Future<Void> filling = fill(&channel);
    Future<Void> enter() { (void)co_await channel.receive(); }
    Future<Void> leave() { co_await channel.send(1); }
    static Future<Void> fill(Channel<int>* channel) { co_await channel->send(1); }
};

struct Rounds {
    int greedy = 0;
    std::vector<int> waited; // rounds of the greedy one that each waiter has seen
};

template <class Place>
Future<Void> comeBack(Place* place, double work, Rounds* rounds) {
    while (rounds->waited.size() != kWaiters && rounds->greedy < kMostRounds) {
        co_await place->enter();
        ++rounds->greedy;
        co_await delay(work);
        co_await place->leave();
    }
}
template <class Place>
Future<Void> comeOnce(Place* place, double work, Rounds* rounds) {
    int before = rounds->greedy;
    co_await place->enter();
    rounds->waited.push_back(rounds->greedy - before);
    co_await delay(work);
    co_await place->leave();
}

template <class Place>
void checkRounds(int greedyOnes, double work) {
    SimLoop loop;
    Place place;
    Rounds rounds;
    std::vector<Future<Void>> all;
    for (int i = 0; i < greedyOnes; ++i)
        all.push_back(comeBack(&place, work, &rounds));
    loop.run(delay(5.5 * work + 0.001)); // these are at it
    for (int i = 0; i < kWaiters; ++i)
        all.push_back(comeOnce(&place, work, &rounds));
    for (Future<Void> const& each : all)
        loop.run(each);
    REQUIRE(rounds.waited.size() == kWaiters);
    for (int waited : rounds.waited)
        CHECK(waited <= 2 * greedyOnes);
}

template <class Place>
void checkPlace(int greedyOnes = 1) {
    for (double work : {0.0, 0.001, 0.02}) {
        CAPTURE(work);
        checkRounds<Place>(greedyOnes, work);
        checkRounds<Place>(greedyOnes + 2, work);
    }
}

TEST_CASE("waiters: of a Mutex and a Semaphore none is overtaken by one that comes back") {
    checkPlace<OfMutex>();
    checkPlace<OfSemaphore<1>>();
    checkPlace<OfSemaphore<3>>(3);
}

TEST_CASE("waiters: of a FlowLock and a FlowMutex none is overtaken") {
    checkPlace<OfFlowLock>();
    checkPlace<OfFlowMutex>();
}

TEST_CASE("waiters: of a Channel none is overtaken, neither one that sends nor one that receives") {
    checkPlace<OfSending<1>>();
    checkPlace<OfSending<4>>();
    checkPlace<OfSending<0>>();
    checkPlace<OfReceiving<1>>();
    checkPlace<OfReceiving<4>>();
    checkPlace<OfReceiving<0>>();
    checkPlace<OfRequeueing>();
    checkPlace<OfTakingBack>();
}

TEST_CASE("waiters: a permit on its way to a waiter is not given to another") {
    SimLoop loop;
    Semaphore semaphore(0);
    Future<Void> waiting = keep(semaphore.acquire());
    semaphore.release();
    CHECK(semaphore.permits() == 1);
    CHECK(!semaphore.tryAcquire());
    Future<Void> second = keep(semaphore.acquire());
    CHECK(!second.isReady());
    waiting.cancel(); // the next one has it
    loop.run(second);
    semaphore.release();
    CHECK(semaphore.tryAcquire());
}

} // namespace
