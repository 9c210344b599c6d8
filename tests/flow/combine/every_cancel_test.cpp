// Every function and member of flow/combine, sync, tasks and compat that gives a future, and every kind of wait,
// cancelled at each step: see tests/flow/support/cancel_everywhere.h. tests/tools/test_library.py finds functions that
// have no entry here.
#include "flow/combine/errors.h"
#include "flow/combine/forward.h"
#include "flow/combine/lifetime.h"
#include "flow/combine/map.h"
#include "flow/combine/race.h"
#include "flow/combine/recurring.h"
#include "flow/combine/retry.h"
#include "flow/combine/timeout.h"
#include "flow/compat/async_map.h"
#include "flow/compat/async_trigger.h"
#include "flow/compat/collection.h"
#include "flow/compat/flow_lock.h"
#include "flow/compat/flow_mutex.h"
#include "flow/compat/outcome.h"
#include "flow/compat/stop_after.h"
#include "flow/compat/wait_for_all.h"
#include "flow/core/operation.h"
#include "flow/core/stream.h"
#include "flow/coro/coroutine.h"
#include "flow/coro/from_awaitable.h"
#include "flow/loop/loop.h"
#include "flow/sync/async_var.h"
#include "flow/threads/on_loop.h"
#include "flow/threads/run_blocking.h"
#include "flow/threads/thread_pool.h"
#include "flow/trace/sink.h"
#include "flow/wait/delay.h"
#include "flow/wait/member_wait.h"
#include "flow/wait/signals.h"
#include "flow/wait/source.h"
#include "flow/wait/yielded.h"
#include "tests/flow/support/cancel_everywhere.h"

#include <doctest/doctest.h>

#include <coroutine>
#include <csignal>
#include <memory>
#include <vector>

using namespace flow;
using namespace flow::test;

namespace {

using Numbers = std::vector<Future<int>>;

Numbers three(Inputs& in) {
    return {in.number(0), in.number(1), in.number(2)};
}
Future<bool> answer(Inputs& in, int i) {
    return map(in.number(i), [](int) { return true; });
}
std::vector<Future<bool>> threeAnswers(Inputs& in) {
    return {answer(in, 0), answer(in, 1), answer(in, 2)};
}

struct Collected : ActorCollection {
    explicit Collected(Inputs& in, bool returnWhenEmptied) : ActorCollection(returnWhenEmptied) {
        for (int i = 0; i < 3; ++i)
            add(in.event(i));
        add(Void());
    }
};

/// Adds another when it ends, and when it is cancelled.
struct AddsWhenItDies {
    Inputs* inputs;
    ActorCollection* collection;
    AddsWhenItDies(Inputs& in, ActorCollection& all) : inputs(&in), collection(&all) {}
    AddsWhenItDies(AddsWhenItDies&& other) noexcept
        : inputs(std::exchange(other.inputs, nullptr)), collection(other.collection) {}
    ~AddsWhenItDies() {
        if (inputs)
            collection->add(inputs->event(2));
    }
};

Future<Void> takesPermit(Inputs& in, FlowLock& lock, TaskPriority priority, std::int64_t amount, Propagate = {}) {
    co_await lock.take(priority, amount);
    FlowLock::Releaser releaser(lock, amount);
    co_await in.event(0);
    co_await delay(0.1);
}

Future<Void> takesUpTo(Inputs& in, FlowLock& lock, std::int64_t amount, Propagate = {}) {
    co_await lock.takeUpTo(amount);
    FlowLock::Releaser releaser(lock, amount);
    co_await in.event(0);
    co_await delay(0.1);
}

Future<Void> takesMutex(Inputs& in, FlowMutex& mutex, Propagate = {}) {
    struct Release {
        FlowMutex::Lock lock;
        explicit Release(FlowMutex::Lock held) : lock(std::move(held)) {}
        ~Release() { lock.release(); } // also by a cancel, which would break the mutex otherwise
    };
    FlowMutex::Lock lock = co_await mutex.take();
    Release release(lock);
    co_await in.event(0);
    lock = FlowMutex::Lock();
    co_await delay(0.1);
}

/// A lock with all permits taken until the last step.
FlowLock& busyLock(Inputs& in, std::int64_t permits) {
    auto& lock = in.keep<FlowLock>(permits);
    (void)lock.take(TaskPriority::DefaultYield, permits);
    in.onStep([&lock, permits] { lock.release(permits); });
    in.afterwards([&lock, permits] { return lock.available() == permits && lock.waiters() == 0; });
    return lock;
}

/// Something that is waited for in place: each ring is heard once.
class Bell {
public:
    struct Ring {
        using Result = int;
        Bell* bell;
        bool isReady() const { return bell->rings_ != 0; }
        void park(WaiterNode& waiter) { bell->source_.park(waiter, *this); }
        int take() const { return bell->rings_--; }
    };
    explicit Bell(Inputs& in) {
        in.onStep([this] {
            ++rings_;
            source_.wakeInTurn();
        });
        in.afterwards([this] { return !source_.isWaitedFor(); });
    }
    Ring heard() { return {this}; }

private:
    int rings_ = 0;
    Source<Ring> source_;
};

/// An operation made of another.
struct Counted : Operation<Counted, int> {
    Counted(Sentinel s, Future<int> number) : sentinel(std::move(s)) { step.waitFor(std::move(number)); }
    WaiterNode* go(Future<int> ready) {
        return ready.isError() ? failed(ready.getError()) : completed(ready.get() + 1);
    }

    Sentinel sentinel;
    MemberWait step{*this, [](Counted& self) { return self.go(self.step.take<int>()); }};
};

/// Another library's awaitable, which is resumed by the last step.
struct Foreign {
    explicit Foreign(Inputs& in) : inputs(&in), sentinel(in.sentinel()) {}
    bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<> handle) const {
        auto& place = inputs->keep<std::coroutine_handle<>>(handle);
        inputs->onStep([&place] {
            if (place)
                std::exchange(place, nullptr).resume();
        });
    }
    int await_resume() const { return 1; }

    Inputs* inputs;
    Sentinel sentinel;
};

template <class Map>
AnyFuture watches(Inputs& in, bool hasValue) {
    auto& map = in.keep<Map>();
    if (hasValue)
        map.set(1, 10);
    in.onStep([&map] { map.set(1, 20); });
    in.onStep([&map] { map.clear(1); });
    in.afterwards([&map] { return map.size() == 0; });
    return holdWhile(in.sentinel(), map.onChange(1));
}

} // namespace

TEST_CASE("every cancel: of waiting for several futures") {
    cancelEverywhere("waitForAll", [](Inputs& in) { return waitForAll(three(in)); });
    cancelEverywhere("waitForAllReady", [](Inputs& in) { return waitForAllReady(three(in)); });
    cancelEverywhere("waitForAny", [](Inputs& in) { return waitForAny(three(in)); });
    cancelEverywhere("race of a vector", [](Inputs& in) { return race(std::vector{in.number(0), in.number(1)}); });
    cancelEverywhere("a race as a future", [](Inputs& in) {
        return race(in.number(0), in.keep<Bell>(in).heard(), in.numbers(), delay(0.5)).future();
    });
    for (std::size_t count = 0; count <= 3; ++count)
        cancelEverywhere("some", [&](Inputs& in) { return some(count, three(in)); });
    cancelEverywhere("some of what callables make", [](Inputs& in) {
        auto make = [&in, s = in.sentinel()] { return in.keep<Bell>(in).heard(); };
        return some(2, std::vector{make, make, make});
    });
    cancelEverywhere("retry", [](Inputs& in) {
        return retry({.attempts = 2, .backoff = 0.1}, [&in, s = in.sentinel()] { return in.number(0); });
    });
    for (std::size_t needed = 0; needed <= 3; ++needed)
        cancelEverywhere("quorum", [&](Inputs& in) { return quorum(three(in), needed); });
    cancelEverywhere("quorum of one future twice", [](Inputs& in) {
        Future<int> one = in.number(0);
        return quorum(Numbers{one, in.number(1), one}, 2);
    });
    cancelEverywhere("operator&&", [](Inputs& in) { return in.number(0) && in.event(1); });
    cancelEverywhere("operator||", [](Inputs& in) { return in.number(0) || delay(0.5); });
    cancelEverywhere("success", [](Inputs& in) { return success(in.number(2)); });
    cancelEverywhere("getAll", [](Inputs& in) { return getAll(three(in)); });
    cancelEverywhere("all", [](Inputs& in) { return all(three(in)); });
    cancelEverywhere("all of several kinds", [](Inputs& in) {
        return all(in.number(0), in.keep<Bell>(in).heard(), in.numbers(), delay(0.5), [&] { return in.number(1); });
    });
}

TEST_CASE("every cancel: of what becomes of results and errors") {
    cancelEverywhere("map", [](Inputs& in) { return map(in.number(0), [s = in.sentinel()](int n) { return n + 1; }); });
    cancelEverywhere("mapAsync", [](Inputs& in) {
        return mapAsync(in.number(0), [&in, s = in.sentinel()](int) { return in.number(1); });
    });
    cancelEverywhere("store", [](Inputs& in) { return store(in.keep<int>(), in.number(0)); });
    cancelEverywhere("errorOr", [](Inputs& in) { return errorOr(in.number(0)); }, {.endsWell = true});
    cancelEverywhere("brokenPromiseToNever", [](Inputs& in) { return brokenPromiseToNever(in.number(0)); });
    cancelEverywhere("waitOrError", [](Inputs& in) { return waitOrError(in.number(0), in.event(1)); });
    cancelEverywhere("holdWhile", [](Inputs& in) { return holdWhile(in.sentinel(), in.number(0)); });
    cancelEverywhere("holdWhileVoid", [](Inputs& in) { return holdWhileVoid(in.sentinel(), in.number(0)); });
    cancelEverywhere("cancellable", [](Inputs& in) { return cancellable(in.number(0)); });
    cancelEverywhere("uncancellable", [](Inputs& in) { return uncancellable(in.number(0)); }, {.runsOn = true});
    cancelEverywhere("stopAfter", [](Inputs& in) { return stopAfter(in.number(0)); });
    cancelEverywhere("forwardPromise",
                     [](Inputs& in) {
                         Promise<int> promise;
                         forwardPromise(promise, in.number(0));
                         return promise.getFuture();
                     },
                     {.runsOn = true});
    cancelEverywhere("forwardPromise to a stream",
                     [](Inputs& in) {
                         PromiseStream<int> stream;
                         forwardPromise(stream, in.number(0));
                         return [](FutureStream<int> results, Propagate = {}) -> Future<int> {
                             co_return co_await results;
                         }(stream.getFuture());
                     },
                     {.runsOn = true});
}

TEST_CASE("every cancel: of what is reported") {
    TraceMemory reports;
    cancelEverywhere("reportErrors", [](Inputs& in) { return reportErrors(in.number(0), "EveryCancel"); });
}

TEST_CASE("every cancel: of what takes time") {
    cancelEverywhere("delay", [](Inputs&) { return Future<Void>(delay(0.5)); });
    cancelEverywhere("delay of nothing", [](Inputs&) { return Future<Void>(delay(0)); });
    cancelEverywhere("delayUntil", [](Inputs&) { return Future<Void>(delayUntil(0.5)); });
    cancelEverywhere("orderedDelay", [](Inputs&) { return Future<Void>(orderedDelay(0.5)); });
    cancelEverywhere("delayJittered", [](Inputs&) { return Future<Void>(delayJittered(0.5)); });
    cancelEverywhere("yield", [](Inputs&) {
        for (int i = 0; i < 64; ++i)
            (void)check_yield();
        return Future<Void>(yield());
    });
    cancelEverywhere("yieldedFuture", [](Inputs& in) { return yieldedFuture(in.event(0)); });
    cancelEverywhere("yieldedFuture, many", [](Inputs& in) {
        Future<Void> shared = in.event(0);
        std::vector<Future<Void>> all;
        for (int i = 0; i < 100; ++i)
            all.push_back(yieldedFuture(shared));
        return waitForAll(all);
    });
    cancelEverywhere("timeout", [](Inputs& in) { return timeout(in.number(0), 0.5, -1); });
    cancelEverywhere("timeout to nothing", [](Inputs& in) { return timeout(in.number(0), 0.5); });
    cancelEverywhere("timeoutError", [](Inputs& in) { return timeoutError(in.number(0), 0.5); });
    cancelEverywhere("timeoutError of an operation",
                     [](Inputs& in) { return timeoutError(in.keep<Bell>(in).heard(), 0.5); });
    cancelEverywhere("timeout of a stream", [](Inputs& in) { return timeout(in.numbers(), 0.5); });
    cancelEverywhere("timeout of a callable",
                     [](Inputs& in) { return timeout([&in, s = in.sentinel()] { return in.number(0); }, 0.5, -1); });
    cancelEverywhere("delayed", [](Inputs& in) { return delayed(in.number(0), 0.5); });
    cancelEverywhere("trigger", [](Inputs& in) { return trigger([s = in.sentinel()] {}, in.event(0)); });
    cancelEverywhere("recurring", [](Inputs& in) { return recurring([s = in.sentinel()] {}, 0.3); });
    cancelEverywhere("recurringAsync",
                     [](Inputs& in) { return recurringAsync([&in, s = in.sentinel()] { return in.event(0); }, 0.3); });
}

TEST_CASE("every cancel: of collections") {
    for (bool returnWhenEmptied : {false, true})
        cancelEverywhere("getResult", [=](Inputs& in) {
            return [](Inputs& inputs, bool whenEmptied, Propagate = {}) -> Future<Void> {
                Collected all(inputs, whenEmptied);
                co_await all.getResult();
            }(in, returnWhenEmptied);
        });
    cancelEverywhere("ActorCollection, adding while it ends", [](Inputs& in) {
        return [](Inputs& inputs, Propagate = {}) -> Future<Void> {
            Collected all(inputs, true);
            all.add(holdWhileVoid(AddsWhenItDies(inputs, all), inputs.number(0)));
            co_await all.getResult();
        }(in);
    });
    cancelEverywhere("actorCollection", [](Inputs& in) { return actorCollection(in.events()); });
    cancelEverywhere("ActorCollectionNoErrors", [](Inputs& in) {
        return [](Inputs& inputs, Propagate = {}) -> Future<Void> {
            ActorCollectionNoErrors all;
            all.add(inputs.event(0));
            all.add(inputs.event(1));
            co_await inputs.event(2);
            all.clear();
            all.add(delay(1));
            co_await Never();
        }(in);
    });
    for (int how = 0; how < 3; ++how)
        cancelEverywhere(how == 0   ? "signal"
                         : how == 1 ? "signalAndReset"
                                    : "signalAndCollapse",
                         [=](Inputs& in) {
                             return [](Inputs& inputs, int kind, Propagate = {}) -> Future<Void> {
                                 SignalableActorCollection all;
                                 all.add(inputs.event(0));
                                 all.add(inputs.event(1));
                                 Future<Void> done = kind == 0   ? all.signal()
                                                     : kind == 1 ? all.signalAndReset()
                                                                 : all.signalAndCollapse();
                                 co_await std::move(done);
                                 all.add(inputs.event(2));
                                 co_await all.signal();
                             }(in, how);
                         });
}

TEST_CASE("every cancel: of variables, triggers and maps") {
    cancelEverywhere("onTrigger", [](Inputs& in) {
        auto& trigger = in.keep<AsyncTrigger>();
        in.onStep([&trigger] { trigger.trigger(); });
        in.afterwards([&trigger] { return !trigger.isAwaited(); });
        return holdWhile(in.sentinel(), trigger.onTrigger());
    });
    cancelEverywhere("onTrigger, failing", [](Inputs& in) {
        auto& trigger = in.keep<AsyncTrigger>();
        in.onStep([&trigger] { trigger.sendError(io_error()); });
        return holdWhile(in.sentinel(), trigger.onTrigger());
    });
    cancelEverywhere("onChange", [](Inputs& in) {
        auto& variable = in.keep<AsyncVar<int>>(1);
        in.onStep([&variable] { variable.set(2); });
        return holdWhile(in.sentinel(), variable.onChange());
    });
    cancelEverywhere("onChange of a variable that is destroyed", [](Inputs& in) {
        auto& variable = in.keep<std::unique_ptr<AsyncVar<int>>>(std::make_unique<AsyncVar<int>>(1));
        in.onStep([&variable] { variable.reset(); });
        return holdWhile(in.sentinel(), variable->onChange());
    });
    for (bool hasValue : {false, true}) {
        cancelEverywhere("onChange of a map", [=](Inputs& in) { return watches<AsyncMap<int, int>>(in, hasValue); });
        cancelEverywhere("onChange of a yielded map",
                         [=](Inputs& in) { return watches<YieldedAsyncMap<int, int>>(in, hasValue); });
    }
    cancelEverywhere("onChange of a map that is destroyed", [](Inputs& in) {
        auto& map = in.keep<std::unique_ptr<AsyncMap<int, int>>>(std::make_unique<AsyncMap<int, int>>());
        in.onStep([&map] { map.reset(); });
        return holdWhile(in.sentinel(), map->onChange(1));
    });
}

TEST_CASE("every cancel: of locks") {
    for (std::int64_t amount : {1, 2, 5})
        cancelEverywhere(
            "take", [=](Inputs& in) { return takesPermit(in, busyLock(in, 2), TaskPriority::DefaultYield, amount); });
    for (std::int64_t amount : {1, 2, 5})
        cancelEverywhere("takeUpTo", [=](Inputs& in) { return takesUpTo(in, busyLock(in, 2), amount); });
    cancelEverywhere("take, in a row", [](Inputs& in) {
        FlowLock& lock = busyLock(in, 2);
        return takesPermit(in, lock, TaskPriority::DefaultYield, 2) &&
               takesPermit(in, lock, TaskPriority::DefaultDelay, 1) &&
               takesPermit(in, lock, TaskPriority::DefaultYield, 1);
    });
    cancelEverywhere("take of a lock that is killed", [](Inputs& in) {
        auto& lock = in.keep<FlowLock>(1);
        (void)lock.take();
        in.onStep([&lock] { lock.kill(io_error()); });
        return takesPermit(in, lock, TaskPriority::DefaultYield, 1);
    });
    cancelEverywhere("releaseWhen",
                     [](Inputs& in) {
                         auto& lock = in.keep<FlowLock>(1);
                         (void)lock.take();
                         in.afterwards([&lock] { return lock.available() == 1; });
                         return lock.releaseWhen(in.event(0));
                     },
                     {.endsWell = true});
    cancelEverywhere("take of a mutex", [](Inputs& in) {
        auto& mutex = in.keep<FlowMutex>();
        in.afterwards([&mutex] { return mutex.waiters() == 0; }); // a cancel breaks it
        return takesMutex(in, mutex) && takesMutex(in, mutex) && takesMutex(in, mutex);
    });
    cancelEverywhere("take of a mutex that is destroyed", [](Inputs& in) {
        auto& mutex = in.keep<std::unique_ptr<FlowMutex>>(std::make_unique<FlowMutex>());
        in.onStep([&mutex] { mutex.reset(); });
        Future<Void> first = takesMutex(in, *mutex);
        return first && takesMutex(in, *mutex);
    });
}

TEST_CASE("every cancel: of calls on a loop") {
    cancelEverywhere("onLoop", [](Inputs& in) { return onLoop(Loop::current(), [s = in.sentinel()] { return 1; }); },
                     {.runsOn = true});
    cancelEverywhere("onLoop of an actor",
                     [](Inputs& in) { return onLoop(Loop::current(), [&in] { return in.number(0); }); },
                     {.runsOn = true});
}

TEST_CASE("every cancel: of operations in place, and of operations made of others") {
    cancelEverywhere("keep", [](Inputs& in) { return holdWhile(in.sentinel(), keep(in.keep<Bell>(in).heard())); });
    cancelEverywhere("co_await", [](Inputs& in) {
        return [](Inputs& inputs, Bell& bell, Propagate = {}) -> Future<Void> {
            Sentinel local = inputs.sentinel();
            (void)co_await bell.heard();
            (void)co_await race(inputs.number(0), bell.heard(), delay(0.5));
            (void)co_await race([&] { return bell.heard(); }, inputs.numbers());
        }(in, in.keep<Bell>(in));
    });
    cancelEverywhere("an operation with a step",
                     [](Inputs& in) { return start<Counted>(in.sentinel(), in.number(1)); });
    cancelEverywhere("signals", [](Inputs& in) {
        in.onStep([] { ::raise(SIGUSR1); });
        return holdWhile(in.sentinel(), keep(signals({SIGUSR1})));
    });
}

TEST_CASE("every cancel: of what runs elsewhere") {
    cancelEverywhere("runBlocking", [](Inputs& in) { return runBlocking([s = in.sentinel()] { return 1; }); });
    cancelEverywhere("runToEnd",
                     [](Inputs& in) { return ThreadPool::ofLoop().runToEnd([s = in.sentinel()] { return 1; }); },
                     {.runsOn = true});
    cancelEverywhere("fromAwaitable", [](Inputs& in) { return fromAwaitable(Foreign(in)); }, {.runsOn = true});
    cancelEverywhere("fromAwaitable, ready at once",
                     [](Inputs& in) { return holdWhile(in.sentinel(), fromAwaitable(std::suspend_never())); });
}

TEST_CASE("every cancel: of coroutines by hand") {
    cancelEverywhere("race", [](Inputs& in) {
        return [](Inputs& inputs, Propagate = {}) -> Future<Void> {
            Sentinel local = inputs.sentinel();
            (void)co_await race(inputs.number(0), delay(0.5), [&] { return inputs.number(1); }, inputs.numbers());
            (void)co_await race(inputs.number(2), Never(), inputs.numbers());
        }(in);
    });
    cancelEverywhere("tryGet", [](Inputs& in) {
        return [](Inputs& inputs, Propagate = {}) -> Future<Void> {
            Sentinel local = inputs.sentinel();
            for (int i = 0; i < 3; ++i)
                (void)co_await tryGet(inputs.number(i));
            co_await Never();
        }(in);
    });
    cancelEverywhere("streams", [](Inputs& in) {
        return [](Inputs& inputs, Propagate = {}) -> Future<Void> {
            FutureStream<int> stream = inputs.numbers();
            Sentinel local = inputs.sentinel();
            for (;;)
                (void)co_await stream;
        }(in);
    });
    cancelEverywhere("onEmpty", [](Inputs& in) {
        auto& stream = in.keep<PromiseStream<int>>();
        FutureStream<int> reader = stream.getFuture();
        stream.send(1);
        stream.send(2);
        in.onStep([reader] { (void)reader.pop(); });
        in.onStep([reader] { (void)reader.pop(); });
        return holdWhile(in.sentinel(), stream.onEmpty());
    });
    cancelEverywhere("handlers that cancel again",
                     [](Inputs& in) {
                         return [](Inputs& inputs) -> Future<Void> {
                             for (int i = 0; i < 3; ++i) {
                                 try {
                                     Sentinel local = inputs.sentinel();
                                     (void)co_await race(inputs.number(i), inputs.numbers(), delay(2));
                                 } catch (Error& error) {
                                     if (inputs.onDeath)
                                         inputs.onDeath();
                                     if (error.code() == error_code_actor_cancelled)
                                         throw;
                                 }
                             }
                             co_await delay(0.2);
                         }(in);
                     },
                     {.hasHandlers = true});
}

TEST_CASE("every cancel: of futures made of how others end") {
    cancelEverywhere("ready", [](Inputs& in) { return ready(in.number(0)); }, {.endsWell = true});
    cancelEverywhere("tag", [](Inputs& in) { return tag(in.event(0), 7); });
    cancelEverywhere("tagError", [](Inputs& in) { return errorOr(tagError<int>(in.event(0), io_error())); },
                     {.endsWell = true});
    cancelEverywhere("onEqual", [](Inputs& in) { return onEqual(answer(in, 0), true); });
    cancelEverywhere("returnIfTrue", [](Inputs& in) { return returnIfTrue(answer(in, 0)); });
    cancelEverywhere("quorumEqualsTrue", [](Inputs& in) { return quorumEqualsTrue(threeAnswers(in), 2); });
    cancelEverywhere("shortCircuitAny", [](Inputs& in) { return shortCircuitAny(threeAnswers(in)); });
    cancelEverywhere("transformErrors", [](Inputs& in) { return transformErrors(in.number(0), io_error()); });
    cancelEverywhere("transformError",
                     [](Inputs& in) { return transformError(in.number(0), io_error(), timed_out()); });
    cancelEverywhere("throwErrorOr", [](Inputs& in) { return throwErrorOr(errorOr(in.number(0))); });
    cancelEverywhere("fmap",
                     [](Inputs& in) { return fmap([s = in.sentinel()](int n) { return n + 1; }, in.number(0)); });
    cancelEverywhere("setAfter", [](Inputs& in) {
        return holdWhile(in.sentinel(), setAfter(makeReference<AsyncVar<int>>(1), 0.5, 2));
    });
    cancelEverywhere("setWhenDoneOrError",
                     [](Inputs& in) { return setWhenDoneOrError(in.event(0), makeReference<AsyncVar<int>>(1), 2); });
    cancelEverywhere("broadcast", [](Inputs& in) { return broadcast(in.number(0), std::vector<Promise<int>>(2)); });
    cancelEverywhere("lowPriorityDelay", [](Inputs&) { return lowPriorityDelay(0.5); });
}
