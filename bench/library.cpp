// The functions and classes of flow/combine, sync, tasks and compat, each used once in a pass: made, brought to its
// end, and dropped.

#include "bench/run.h"
#include "flow/combine/errors.h"
#include "flow/combine/forward.h"
#include "flow/combine/lifetime.h"
#include "flow/combine/map.h"
#include "flow/combine/recurring.h"
#include "flow/combine/retry.h"
#include "flow/combine/timeout.h"
#include "flow/compat/async_map.h"
#include "flow/compat/async_trigger.h"
#include "flow/compat/collection.h"
#include "flow/compat/flow_lock.h"
#include "flow/compat/flow_mutex.h"
#include "flow/compat/indexed_set.h"
#include "flow/compat/outcome.h"
#include "flow/compat/stop_after.h"
#include "flow/compat/wait_for_all.h"
#include "flow/core/stream.h"
#include "flow/coro/coroutine.h"
#include "flow/sim/sim_loop.h"
#include "flow/sync/async_var.h"
#include "flow/threads/on_loop.h"
#include "flow/wait/delay.h"
#include "flow/wait/yielded.h"

#include <functional>
#include <string_view>
#include <vector>

namespace {

using namespace flow;
using bench::Driver;
using bench::Run;

constexpr double kLong = 1e6;  // seconds that no benchmark sees the end of
constexpr double kSoon = 1e-9; // seconds
constexpr int kSeveral = 8;

std::size_t noBytes() {
    return 0;
}

/// The driver that calls `use(state)` in each pass; it must say that the work was done.
template <class State, class Use>
Driver piece(std::string_view work, Use use, std::function<std::size_t()> itemBytes = noBytes) {
    auto repeat = [](Run* run, Use use) -> Future<Void> {
        State state;
        co_await delay(0);
        while (run->next())
            run->expect(use(state));
    };
    return {work, [use, repeat](Run* run) { return repeat(run, use); }, std::move(itemBytes)};
}

struct Nothing {};

/// A piece that is given a future, which is sent then.
template <class T = int, class Make>
Driver answering(std::string_view work, Make make) {
    auto use = [make](Nothing) {
        Promise<T> promise;
        auto made = make(promise.getFuture());
        promise.send(T());
        return made.isReady();
    };
    return piece<Nothing>(work, use, [make] { return bench::bytes(make(Promise<T>().getFuture())); });
}

/// A piece that is given several futures, which are sent then.
template <class Make>
Driver gathering(std::string_view work, Make make) {
    auto use = [make](Nothing) {
        Promise<int> promises[kSeveral];
        std::vector<Future<int>> futures;
        futures.reserve(kSeveral);
        for (Promise<int>& promise : promises)
            futures.push_back(promise.getFuture());
        auto made = make(std::move(futures));
        for (Promise<int>& promise : promises)
            promise.send(1);
        return made.isReady();
    };
    return piece<Nothing>(work, use,
                          [make] { return bench::bytes(make(std::vector<Future<int>>(kSeveral, Never()))); });
}

/// A piece that takes its time: the driver waits for what `make(state)` gives.
template <class State = Nothing, class Make>
Driver awaiting(std::string_view work, Make make) {
    auto repeat = [](Run* run, Make make) -> Future<Void> {
        State state;
        while (run->next()) {
            auto made = make(state);
            (void)co_await std::move(made);
        }
    };
    return {work, [make, repeat](Run* run) { return repeat(run, make); }, noBytes};
}

bool awaitChange(AsyncVar<int>& variable) {
    Future<Void> changed = variable.onChange();
    variable.set(variable.get() + 1);
    return changed.isReady();
}

bool awaitTrigger(AsyncTrigger& trigger) {
    Future<Void> triggered = trigger.onTrigger();
    trigger.trigger();
    return triggered.isReady();
}

template <class Map>
Future<Void> changeKey(Map& map) {
    Future<Void> changed = map.onChange(7);
    map.set(7, map.get(7) + 1);
    return changed;
}

bool takeFree(FlowLock& lock) {
    Future<Void> taken = lock.take();
    bool done = taken.isReady();
    lock.release();
    return done;
}

Future<Void> driveTakeTaken(Run* run) {
    FlowLock lock;
    while (run->next()) {
        Future<Void> first = lock.take();
        Future<Void> second = lock.take();
        lock.release();
        co_await second;
        lock.release();
    }
}

bool releaseLater(FlowLock& lock) {
    Future<Void> taken = lock.take();
    Promise<Void> end;
    Future<Void> released = lock.releaseWhen(end.getFuture());
    end.send(Void());
    return released.isReady() && lock.available() == 1;
}

/// A stream of actors, which an actorCollection() holds.
struct Fed {
    PromiseStream<Future<Void>> actors;
    Future<Void> running = actorCollection(actors.getFuture());
};

bool feed(Fed& fed) {
    Promise<Void> actor;
    fed.actors.send(actor.getFuture());
    actor.send(Void());
    return !fed.running.isReady();
}

bool addUnheeded(ActorCollectionNoErrors& actors) {
    Promise<Void> actor;
    actors.add(actor.getFuture());
    actor.send(Void());
    return actors.size() == 0;
}

bool addAndSignal(SignalableActorCollection& actors) {
    Promise<Void> actor;
    actors.add(actor.getFuture());
    Future<Void> done = actors.signalAndReset();
    actor.send(Void());
    return done.isReady();
}

struct Files {
    Files() {
        for (int i = 0; i < kSeveral; ++i)
            bytes.insert(2 * i, 1);
    }
    IndexedSet<int, int> bytes;
};

bool insertAndErase(Files& files) {
    files.bytes.insert(7, 1); // behind 0, 2, 4 and 6
    int before = files.bytes.sumTo(files.bytes.find(7));
    files.bytes.erase(7);
    return before == 4;
}

/// While errors keep where they were made.
struct Recording {
    bool before = Error::recordOrigins(true);
    ~Recording() { Error::recordOrigins(before); }
};

/// Makes one, and is not seen through by the optimizer.
template <class State>
bool makeError(State const&) {
    Error error = timed_out();
    flow::Benchmark::keep(error);
    return error.isValid();
}

/// What is called again and again is the pass.
Future<Void> driveRecurring(Run* run) {
    Promise<Void> end;
    Future<Void> beat = recurring(
        [run, &end] {
            if (!run->next())
                end.send(Void());
        },
        kSoon);
    co_await end.getFuture();
}

Future<Void> driveRecurringAsync(Run* run) {
    Promise<Void> end;
    auto pass = [run, &end] {
        if (!run->next())
            end.send(Void());
        return Future<Void>(Void());
    };
    Future<Void> beat = recurringAsync(pass, kSoon);
    co_await end.getFuture();
}

/// It stops the loop, so that it needs one beside the driver's.
void performStopAfter(Run* run) {
    SimLoop loop;
    while (run->next()) {
        Promise<int> promise;
        Future<int> made = stopAfter(promise.getFuture());
        promise.send(1);
        loop.run();
        run->expect(made.isReady());
    }
}

const bench::Style endings(
    bench::kLibrary,
    {
        answering("ready", [](Future<int> f) { return ready(f); }),
        answering<Void>("tag", [](Future<Void> f) { return tag(f, 7); }),
        answering<Void>("tagError", [](Future<Void> f) { return errorOr(tagError<int>(f, io_error())); }),
        answering("onEqual", [](Future<int> f) { return onEqual(f, 0); }),
        answering<bool>("returnIfTrue", [](Future<bool> f) { return returnIfTrue(map(f, [](bool x) { return !x; })); }),
        answering<bool>("quorumEqualsTrue", [](Future<bool> f) { return quorumEqualsTrue({f, f, f}, 1); }),
        answering<bool>("shortCircuitAny", [](Future<bool> f) { return shortCircuitAny({f, f, f}); }),
        answering("transformErrors", [](Future<int> f) { return transformErrors(f, io_error()); }),
        answering("transformError", [](Future<int> f) { return transformError(f, io_error(), timed_out()); }),
        answering("throwErrorOr", [](Future<int> f) { return throwErrorOr(errorOr(f)); }),
        answering("fmap", [](Future<int> f) { return fmap([](int x) { return x + 1; }, f); }),
        answering<Void>("setWhenDoneOrError",
                        [](Future<Void> f) { return setWhenDoneOrError(f, makeReference<AsyncVar<int>>(1), 2); }),
        answering("broadcast", [](Future<int> f) { return broadcast(f, std::vector<Promise<int>>(kSeveral)); }),
    });

const bench::Style sets(bench::kLibrary, {piece<Files>("IndexedSet", insertAndErase)});

const bench::Style errors(bench::kLibrary, {
                                               piece<Nothing>("Error", makeError<Nothing>),
                                               piece<Recording>("Error_origin", makeError<Recording>),
                                           });

Future<Void> yielded(Nothing) {
    Promise<Void> promise;
    Future<Void> made = yieldedFuture(promise.getFuture());
    promise.send(Void());
    return made;
}

const bench::Style
    locks(bench::kLibrary,
          {
              piece<AsyncVar<int>>("AsyncVar", awaitChange),
              piece<AsyncTrigger>("AsyncTrigger", awaitTrigger),
              awaiting<AsyncMap<int, int>>("AsyncMap", changeKey<AsyncMap<int, int>>),
              awaiting<YieldedAsyncMap<int, int>>("YieldedAsyncMap", changeKey<YieldedAsyncMap<int, int>>),
              piece<FlowLock>("FlowLock", takeFree),
              {"FlowLock_wait", driveTakeTaken, noBytes},
              piece<FlowLock>("releaseWhen", releaseLater),
              piece<FlowMutex>("FlowMutex", [](FlowMutex& m) { return m.take().isReady(); }),
              piece<Fed>("actorCollection", feed),
              piece<ActorCollectionNoErrors>("ActorCollectionNoErrors", addUnheeded),
              piece<SignalableActorCollection>("SignalableActorCollection", addAndSignal),
          });

const bench::Style
    results(bench::kLibrary,
            {
                answering("success", [](Future<int> f) { return success(f); }),
                answering("and", [](Future<int> f) { return f && f; }),
                answering("or", [](Future<int> f) { return f || Future<int>(Never()); }),
                answering("errorOr", [](Future<int> f) { return errorOr(f); }),
                answering("waitOrError", [](Future<int> f) { return waitOrError(f, Never()); }),
                answering("brokenPromiseToNever", [](Future<int> f) { return brokenPromiseToNever(f); }),
                answering("reportErrors", [](Future<int> f) { return reportErrors(f, "Benchmark"); }),
                answering("retry", [](Future<int> f) { return retry({}, [f] { return f; }); }),
                answering("timeout", [](Future<int> f) { return timeout(f, kLong); }),
                answering("timeoutError", [](Future<int> f) { return timeoutError(f, kLong); }),
                answering("holdWhile", [](Future<int> f) { return holdWhile(1, f); }),
                answering("holdWhileVoid", [](Future<int> f) { return holdWhileVoid(1, f); }),
                answering("map", [](Future<int> f) { return map(f, [](int x) { return x + 1; }); }),
                answering("mapAsync", [](Future<int> f) { return mapAsync(f, [](int x) { return Future<int>(x); }); }),
                answering("store",
                          [](Future<int> f) {
                              static int out;
                              return store(out, f);
                          }),
                answering("uncancellable", [](Future<int> f) { return uncancellable(f); }),
                answering("cancellable", [](Future<int> f) { return cancellable(f); }),
                answering("forwardPromise",
                          [](Future<int> f) {
                              Promise<int> to;
                              forwardPromise(to, f);
                              return to.getFuture();
                          }),
                answering<Void>("trigger", [](Future<Void> f) { return trigger([] {}, f); }),
                gathering("waitForAll", [](std::vector<Future<int>> f) { return waitForAll(f); }),
                gathering("waitForAny", [](std::vector<Future<int>> f) { return waitForAny(f); }),
                gathering("waitForAllReady", [](std::vector<Future<int>> f) { return waitForAllReady(f); }),
                gathering("race", [](std::vector<Future<int>> f) { return race(std::move(f)); }),
                gathering("all", [](std::vector<Future<int>> f) { return all(std::move(f)); }),
            });

const bench::Style
    times(bench::kLibrary,
          {
              awaiting("delayed", [](Nothing) { return delayed(Future<int>(1)); }),
              awaiting("delayJittered", [](Nothing) { return delayJittered(kSoon); }),
              awaiting("yieldedFuture", yielded),
              awaiting("setAfter", [](Nothing) { return setAfter(makeReference<AsyncVar<int>>(1), kSoon, 2); }),
              awaiting("lowPriorityDelay", [](Nothing) { return lowPriorityDelay(kSoon); }),
              {"recurring", driveRecurring, noBytes},
              {"recurringAsync", driveRecurringAsync, noBytes},
              awaiting("onLoop", [](Nothing) { return onLoop(Loop::current(), [] { return 1; }); }),
          });
const bench::PeerStyle loops(bench::kLibrary, {{"stopAfter", performStopAfter}});

} // namespace
