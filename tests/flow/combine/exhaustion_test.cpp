// Every allocation of every operation of the library fails once: the caller gets std::bad_alloc, or a future that
// failed, nothing leaks, no waiter is forgotten, and the same operation works again afterwards.

#include "flow/combine/recurring.h"
#include "flow/compat/async_trigger.h"
#include "flow/memory/allocation_failure.h"

#include "flow/combine/errors.h"
#include "flow/combine/forward.h"
#include "flow/combine/lifetime.h"
#include "flow/combine/map.h"
#include "flow/combine/timeout.h"
#include "flow/compat/async_map.h"
#include "flow/compat/collection.h"
#include "flow/compat/flow_lock.h"
#include "flow/compat/flow_mutex.h"
#include "flow/compat/wait_for_all.h"
#include "flow/core/stream.h"
#include "flow/coro/coroutine.h"
#include "flow/coro/from_awaitable.h"
#include "flow/sim/sim_loop.h"
#include "flow/sync/async_var.h"
#include "flow/threads/on_loop.h"
#include "flow/threads/run_blocking.h"
#include "flow/trace/sink.h"
#include "flow/trace/trace_event.h"
#include "flow/wait/delay.h"
#include "flow/wait/signals.h"
#include "flow/wait/source.h"
#include "flow/wait/yielded.h"
#include "tests/flow/support/failures.h"

#include <doctest/doctest.h>

#include <coroutine>
#include <csignal>

#include <new>
#include <string>
#include <vector>

using namespace flow;
using flow::test::expect;
using flow::test::failEverywhere;
using flow::test::ranOut;

namespace {

template <class T>
bool isValueOr(Future<T> const& future, T const& value) {
    return ranOut(future) || (future.canGet() && future.get() == value);
}
template <class T>
bool came(Future<T> const& future) {
    return future.canGet() || ranOut(future);
}

Future<Void> member(Future<int> awaited) {
    co_await std::move(awaited);
}

const std::string kLong = "a text that needs memory of its own, again and again";

} // namespace

// Containers run out as well, of what operator new gives.
TEST_SUITE_BEGIN("exhaustion" * doctest::skip(!REPLACES_NEW));

TEST_CASE("exhaustion: quorums hold their inputs until they are made, and give them back if they cannot be") {
    auto failures = failEverywhere([] {
        SimLoop loop;
        Promise<int> a, b;
        std::vector<Future<int>> inputs = {a.getFuture(), b.getFuture()};
        auto operation = [&] {
            Future<Void> all = waitForAll(inputs);
            Future<Void> any = waitForAny(inputs), ready = waitForAllReady(inputs);
            Future<Void> mixed = (a.getFuture() && delay(1)) || Never() || success(b.getFuture());
            Future<std::vector<int>> values = getAll(inputs);
            a.send(1);
            b.send(1);
            expect(all.canGet() && any.canGet() && ready.canGet() && mixed.canGet() && came(values));
        };
        try {
            operation();
        } catch (std::bad_alloc&) {
            expect(a.getFutureReferenceCount() == 1 && b.getFutureReferenceCount() == 1);
            throw;
        }
    });
    CHECK(failures >= 10);
}

TEST_CASE("exhaustion: collections drop the actor that they cannot hold") {
    auto failures = failEverywhere([] {
        Promise<int> promise;
        ActorCollection all(true);
        try {
            for (int i = 0; i < 3; ++i)
                all.add(member(promise.getFuture()));
        } catch (std::bad_alloc&) {
            promise.send(1);
            expect(all.isEmpty() || !all.getResult().isReady());
            throw;
        }
        promise.send(1);
        expect(all.getResult().canGet());
    });
    CHECK(failures >= 8);
}

TEST_CASE("exhaustion: collections that are fed by a stream fail as a whole") {
    auto failures = failEverywhere([] {
        Promise<int> promise;
        PromiseStream<Future<Void>> actors; // keeps what nobody takes
        Future<Void> running = actorCollection(actors.getFuture());
        for (int i = 0; i < 3; ++i)
            actors.send(member(promise.getFuture()));
        expect(!running.isReady() || ranOut(running));
        actors.sendError(end_of_stream());
        expect(running.isError());
        running = Future<Void>();
        actors = PromiseStream<Future<Void>>();
        expect(promise.getFutureReferenceCount() == 0);
    });
    CHECK(failures >= 8);
}

TEST_CASE("exhaustion: collections keep their actors when a request to end fails") {
    auto failures = failEverywhere([] {
        Promise<int> promise;
        SignalableActorCollection writes;
        writes.add(member(promise.getFuture()));
        Future<Void> end;
        try {
            end = writes.signalAndCollapse();
        } catch (std::bad_alloc const&) {
            expect(promise.getFutureReferenceCount() == 1); // the actor still waits
            end = writes.signal();
        }
        promise.send(1);
        expect(came(end));
    });
    CHECK(failures >= 6);
}

TEST_CASE("exhaustion: variables and triggers") {
    auto failures = failEverywhere([] {
        AsyncVar<std::string> variable;
        Future<Void> change = variable.onChange();
        try {
            variable.set(kLong);
        } catch (std::bad_alloc const&) {
            expect(!change.isReady() && variable.get().empty());
            variable.set("short");
        }
        expect(change.canGet());
        AsyncTrigger trigger;
        Future<Void> next = trigger.onTrigger();
        trigger.trigger();
        expect(next.canGet());
    });
    CHECK(failures >= 3);
}

TEST_CASE("exhaustion: a map keeps no key for a watch that could not be made") {
    auto failures = failEverywhere([] {
        AsyncMap<std::string, std::string> map;
        Future<Void> change;
        try {
            change = map.onChange(kLong);
        } catch (std::bad_alloc const&) {
            expect(map.size() == 0);
            throw;
        }
        try {
            map.set(kLong, kLong + kLong);
        } catch (std::bad_alloc const&) {
            expect(!change.isReady() && map.size() == 1 && map.get(kLong).empty());
            throw;
        }
        expect(came(change));
        try {
            map.set("another key that needs memory", kLong);
        } catch (std::bad_alloc const&) {
            expect(map.size() == 1);
            throw;
        }
        change = map.onChange(kLong);
        map.clear(kLong);
        expect(change.canGet() && map.size() == 1);
    });
    CHECK(failures >= 8);
}

TEST_CASE("exhaustion: waking a range of keys wakes all or none") {
    auto failures = failEverywhere([] {
        AsyncMap<int, int> map;
        std::vector<Future<Void>> watches;
        watches.reserve(20);
        for (int i = 0; i < 10; ++i) {
            map.set(i, 1);
            watches.push_back(map.onChange(i));       // of a key with a value
            watches.push_back(map.onChange(i + 100)); // of one without
        }
        try {
            map.triggerAll();
        } catch (std::bad_alloc const&) {
            for (Future<Void> const& watch : watches)
                expect(!watch.isReady());
            throw;
        }
        for (Future<Void> const& watch : watches)
            expect(watch.canGet());
    });
    CHECK(failures >= 50);
}

TEST_CASE("exhaustion: those that cannot be put off run at once") {
    auto failures = failEverywhere([] {
        SimLoop loop;
        Promise<Void> promise;
        std::vector<Future<Void>> waiting;
        waiting.reserve(200);
        for (int i = 0; i < 200; ++i)
            waiting.push_back(yieldedFuture(promise.getFuture()));
        promise.send(Void());
        Future<Void> late = yieldedFuture(promise.getFuture());
        loop.run();
        expect(late.canGet());
        for (Future<Void> const& one : waiting)
            expect(one.canGet());
    });
    CHECK(failures >= 200);
}

TEST_CASE("exhaustion: locks lose no permit") {
    auto failures = failEverywhere([] {
        SimLoop loop;
        FlowLock lock(1);
        Future<Void> first;
        try {
            first = lock.take();
            Future<Void> second = lock.take();
            Future<Void> third = lock.take();
            Promise<Void> done;
            Future<Void> giving = lock.releaseWhen(done.getFuture());
            done.send(Void());
            loop.run();
            expect(giving.canGet() && second.canGet() && !third.isReady());
            lock.release();
            loop.run();
            expect(third.canGet());
            lock.release();
        } catch (std::bad_alloc const&) {
            expect(lock.waiters() == 0 && lock.activePermits() == (first.isValid() ? 1 : 0));
            throw;
        }
        expect(lock.available() == 1);
    });
    CHECK(failures >= 5);
}

TEST_CASE("exhaustion: a mutex passes to the next") {
    auto failures = failEverywhere([] {
        SimLoop loop;
        FlowMutex mutex;
        struct Release {
            FlowMutex::Lock lock;
            ~Release() { lock.release(); } // also where something runs out, which would break the mutex otherwise
        };
        auto use = [](FlowMutex& shared) -> Future<int> {
            FlowMutex::Lock held = co_await shared.take();
            Release release{held};
            co_await delay(1);
            held.release();
            co_return 1;
        };
        std::vector<Future<int>> users;
        users.reserve(4);
        for (int i = 0; i < 4; ++i)
            users.push_back(use(mutex));
        loop.run();
        for (Future<int> const& user : users) // one that fails with the mutex breaks it
            expect(isValueOr(user, 1) || (user.isError() && user.getError() == broken_promise()));
        expect(mutex.waiters() == 0);
    });
    CHECK(failures >= 12);
}

TEST_CASE("exhaustion: operations in place keep what cannot be taken") {
    struct Tickets {
        struct Take {
            using Result = std::string;
            Tickets* tickets;
            bool isReady() const { return tickets->free != 0; }
            void park(WaiterNode& waiter) { tickets->source.park(waiter, *this); }
            std::string take() const {
                std::string text = kLong; // may throw, before anything is taken
                --tickets->free;
                return text;
            }
        };
        int free = 0;
        Source<Take> source;
    };
    auto failures = failEverywhere([] {
        SimLoop loop;
        Tickets tickets;
        Future<std::string> kept = keep(Tickets::Take{&tickets});
        Future<std::string> awaited = [](Tickets& all) -> Future<std::string> {
            co_return co_await Tickets::Take{&all};
        }(tickets);
        tickets.free = 2;
        tickets.source.wakeInTurn();
        loop.run();
        expect(came(kept) && came(awaited));
        expect(tickets.free == (kept.isError() ? 1 : 0) + (awaited.isError() ? 1 : 0));
    });
    CHECK(failures >= 4);
}

TEST_CASE("exhaustion: blocking calls, calls on a loop, awaitables of others, and signals") {
    auto failures = failEverywhere([] {
        SimLoop loop;
        Future<std::string> blocked = runBlocking([] { return kLong; });
        Future<std::string> called = onLoop(loop, [] { return kLong; });
        Future<Void> foreign = fromAwaitable([] { return std::suspend_never(); });
        Future<int> signalled = keep(signals({SIGUSR2}));
        ::raise(SIGUSR2);
        while (!signalled.isReady())
            loop.run(delay(0.1));
        expect(came(blocked) && came(called) && foreign.canGet() && signalled.get() == SIGUSR2);
    });
    CHECK(failures >= 10);
}

TEST_CASE("exhaustion: results that pass through") {
    auto failures = failEverywhere([] {
        SimLoop loop;
        Promise<std::string> promise;
        Future<std::string> held = holdWhile(kLong, promise.getFuture());
        Future<std::string> kept = uncancellable(promise.getFuture());
        Future<std::string> own = cancellable(promise.getFuture());
        Future<std::size_t> size = map(promise.getFuture(), [](std::string const& s) { return s.size(); });
        Future<std::string> after =
            mapAsync(promise.getFuture(), [](std::string const& s) { return delayed(Future<std::string>(s), 1); });
        Future<ErrorOr<std::string>> either = errorOr(promise.getFuture());
        Future<std::string> late = delayed(promise.getFuture(), 1);
        Promise<std::string> forwarded;
        forwardPromise(forwarded, promise.getFuture());
        int beats = 0;
        Future<Void> beat = recurring([&] { ++beats; }, 1);
        promise.send("short");
        loop.run(delay(2.5));
        expect(isValueOr(held, std::string("short")) && isValueOr(kept, std::string("short")));
        expect(isValueOr(own, std::string("short")) && isValueOr(size, std::size_t{5}));
        expect(isValueOr(after, std::string("short")) && isValueOr(late, std::string("short")));
        expect(came(either) && came(forwarded.getFuture()));
        expect(beats == 2 || ranOut(beat));
    });
    CHECK(failures >= 15);
}

TEST_CASE("exhaustion: trace events for which there is no memory are lost, not the program") {
    auto failures = failEverywhere([] {
        TraceMemory trace;
        {
            TraceEvent(SevError, "Long").detail("Text", kLong).detail("More", kLong + kLong);
        }
        Promise<int> promise;
        auto fails = [](Future<int> awaited) -> coro::Detached {
            co_await std::move(awaited);
            throw timed_out(); // is reported as dropped
        };
        fails(promise.getFuture());
        promise.send(1);
        expect(trace.lines().size() <= 2);
    });
    CHECK(failures >= 10);
}

TEST_SUITE_END();
