// Level M2: callbacks and counts, the generic actors, locks, a network of the test's, tests in actor files.
#include "flow/UnitTest.h" // with which comes all of flow.h
#include "flow/sim.h"
#include "flow/actorcompiler.h" // This must be the last #include.

template <class T, class Func, class ErrFunc, class CallbackType>
class LambdaCallback final : public CallbackType, public FastAllocated<LambdaCallback<T, Func, ErrFunc, CallbackType>> {
    Func func;
    ErrFunc errFunc;

    void fire(T const& t) override {
        CallbackType::remove();
        func(t);
        delete this;
    }
    void fire(T&& t) override {
        CallbackType::remove();
        func(std::move(t));
        delete this;
    }
    void error(Error e) override {
        CallbackType::remove();
        errFunc(e);
        delete this;
    }

public:
    LambdaCallback(Func&& f, ErrFunc&& e) : func(std::move(f)), errFunc(std::move(e)) {}
};

template <class T, class Func, class ErrFunc>
void onReady(Future<T>&& future, Func&& func, ErrFunc&& errFunc) {
    if (future.isReady()) {
        if (future.isError())
            errFunc(future.getError());
        else
            func(future.get());
    } else {
        future.addCallbackAndClear(new LambdaCallback<T, Func, ErrFunc, Callback<T>>(std::move(func), std::move(errFunc)));
    }
}

template <class T, class Func, class ErrFunc>
void onReady(FutureStream<T>&& stream, Func&& func, ErrFunc&& errFunc) {
    if (stream.isReady()) {
        if (stream.isError())
            errFunc(stream.getError());
        else
            func(stream.pop());
    } else {
        stream.addCallbackAndClear(
            new LambdaCallback<T, Func, ErrFunc, SingleCallback<T>>(std::move(func), std::move(errFunc)));
    }
}

TEST_CASE("/compat/callbacks") {
    state int result = 0;
    {
        Promise<int> p;
        ASSERT_EQ(p.getFutureReferenceCount(), 0);
        onReady(p.getFuture(), [&r = result](int x) { r = x; }, [&r = result](Error e) { r = -e.code(); });
        ASSERT_EQ(p.getFutureReferenceCount(), 1);
        ASSERT(p.canBeSet() && !p.isSet());
        p.send(123);
        ASSERT_EQ(result, 123);
        ASSERT_EQ(p.getFutureReferenceCount(), 0);
        ASSERT_EQ(p.getPromiseReferenceCount(), 1);
        onReady(p.getFuture(), [&r = result](int x) { r = x + 1; }, [&r = result](Error e) { r = -e.code(); });
        ASSERT_EQ(result, 124);
    }
    {
        Promise<int> p;
        onReady(p.getFuture(), [&r = result](int x) { r = x; }, [&r = result](Error e) { r = -e.code(); });
    }
    ASSERT_EQ(result, -error_code_broken_promise);
    {
        PromiseStream<int> s;
        onReady(s.getFuture(), [&r = result](int x) { r = x; }, [&r = result](Error e) { r = -e.code(); });
        s.send(5);
        s.send(6);
        ASSERT_EQ(result, 5);
        ASSERT(!s.isEmpty());
        onReady(s.getFuture(), [&r = result](int x) { r = x; }, [&r = result](Error e) { r = -e.code(); });
        ASSERT_EQ(result, 6);
        onReady(s.getFuture(), [&r = result](int x) { r = x; }, [&r = result](Error e) { r = -e.code(); });
    }
    ASSERT_EQ(result, -error_code_broken_promise);
    wait(Future<Void>(Void()));
    return Void();
}

ACTOR static Future<Void> useLock(FlowLock* lock, int id, double seconds) {
    wait(lock->take(TaskPriority::DefaultYield));
    state FlowLock::Releaser releaser(*lock);
    printf("  %d has the lock at %.1f\n", id, now());
    wait(delay(seconds));
    return Void();
}

TEST_CASE("/compat/FlowLock/counted") {
    state Reference<FlowLock> lock(new FlowLock(1));
    wait(lock->take());
    ASSERT_EQ(lock->available(), 0);
    return Void();
}

TEST_CASE("/compat/FlowLock") {
    state FlowLock lock(2);
    state std::vector<Future<Void>> users;
    for (int i = 0; i < 5; ++i)
        users.push_back(useLock(&lock, i, 1.0 + i));
    ASSERT_EQ(lock.waiters(), 3);
    users[3].cancel();
    ASSERT(users[3].isError() && users[3].getError().code() == error_code_actor_cancelled);
    users.erase(users.begin() + 3);
    wait(waitForAll(users));
    ASSERT_EQ(lock.available(), 2);
    return Void();
}

ACTOR static Future<Void> useMutex(FlowMutex* mutex, std::string* order, char id) {
    state FlowMutex::Lock lock = wait(mutex->take());
    wait(delay(deterministicRandom()->random01()));
    *order += id;
    lock.release();
    return Void();
}

TEST_CASE("/compat/FlowMutex") {
    state FlowMutex mutex;
    state std::string order;
    state std::vector<Future<Void>> users;
    for (char id = 'a'; id < 'f'; ++id)
        users.push_back(useMutex(&mutex, &order, id));
    wait(waitForAllReady(users));
    ASSERT_EQ(order, "abcde");
    ASSERT(mutex.available());
    return Void();
}

struct ServerConfig {
    Reference<AsyncVar<int>> epoch = makeReference<AsyncVar<int>>(1);
    AsyncTrigger kicked;
};

ACTOR static Future<Void> followEpoch(ServerConfig* config, std::string* log) {
    state int last = 0;
    loop {
        if (config->epoch->get() != last) {
            last = config->epoch->get();
            *log += format("%d,", last);
        }
        if (last >= 4)
            break;
        choose {
            when(wait(config->epoch->onChange())) {}
            when(wait(config->kicked.onTrigger())) { *log += "kick,"; }
        }
    }
    return Void();
}

TEST_CASE("/compat/AsyncVar") {
    state ServerConfig config;
    state std::string log;
    state Future<Void> follower = followEpoch(&config, &log);
    config.epoch->set(2);
    config.epoch->set(2);
    config.kicked.trigger();
    wait(delay(0));
    config.epoch->set(4);
    wait(follower);
    ASSERT_EQ(log, "1,2,kick,4,");
    return Void();
}

ACTOR static Future<int> after(double seconds, int value) {
    wait(delay(seconds));
    if (value < 0)
        throw io_error();
    return value;
}

static bool cond() {
    return true;
}

TEST_CASE("/compat/generic actors") {
    state int stored = 0;
    state int fired = 0;
    wait(store(stored, after(1, 7)));
    ASSERT_EQ(stored, 7);
    int doubled = wait(map(after(1, 4), [](int x) { return 2 * x; }));
    ASSERT_EQ(doubled, 8);
    Optional<int> late = wait(timeout(after(5, 1), 1.0));
    ASSERT(!late.present());
    int fallback = wait(timeout(after(5, 1), 1.0, -1));
    ASSERT_EQ(fallback, -1);
    try {
        wait(success(timeoutError(after(5, 1), 1.0)));
        UNREACHABLE();
    } catch (Error& e) {
        ASSERT_EQ(e.code(), error_code_timed_out);
    }
    ErrorOr<int> failed = wait(errorOr(after(1, -1)));
    ASSERT(failed.isError(error_code_io_error));
    state double begin = now();
    wait(quorum(std::vector<Future<int>>{ after(1, 1), after(2, 1), after(9, 1) }, 2));
    ASSERT_EQ(now() - begin, 2);
    wait((delay(1) || Never()) && delay(3));
    ASSERT_EQ(now() - begin, 5);
    wait(delayed(after(1, 1), 1.0) || delay(1.5));
    ASSERT_EQ(now() - begin, 6.5);
    state Future<Void> ticks = recurring([&n = fired]() { ++n; }, 1.0);
    state Future<Void> triggered = trigger([&n = fired]() { n += 100; }, delay(2.5));
    wait(delay(3.5));
    ASSERT_EQ(fired, 103);
    ticks = Void();
    state Future<Void> kept = uncancellable(holdWhile(std::make_shared<int>(1), success(after(1, 1))));
    kept = Void();
    wait(cond() ? delay(1.0) : Never());
    Future<int> never = brokenPromiseToNever(Promise<int>().getFuture());
    ASSERT(!never.isReady());
    return Void();
}

static bool isAbout(double seconds, double expected) {
    return std::abs(seconds - expected) < 1e-6;
}

TEST_CASE("/compat/generic actors/time") {
    state double begin = now();
    state Reference<AsyncVar<bool>> paused = makeReference<AsyncVar<bool>>(true);
    state Future<int> guarded = timeoutErrorIfCleared(after(100, 1), paused, 2.0);
    state Future<Void> cleared = delayAfterCleared(paused, 1.0) && lowPriorityDelayAfterCleared(paused, 1.0);
    wait(delay(5));
    paused->set(false);
    wait(delay(0.5));
    paused->set(true);
    wait(delay(5));
    ASSERT(!cleared.isReady() && !guarded.isReady());
    paused->set(false);
    wait(cleared);
    ASSERT(isAbout(now() - begin, 11.5));
    try {
        wait(success(guarded));
        UNREACHABLE();
    } catch (Error& e) {
        ASSERT(e.code() == error_code_timed_out && isAbout(now() - begin, 12.5));
    }
    state PromiseStream<Void> warnings;
    int late = wait(timeoutWarning(after(3.5, 8), 1.0, warnings));
    ASSERT_EQ(late, 8);
    state flow::TraceMemory trace;
    state Future<Void> collector = timeoutWarningCollector(warnings.getFuture(), 10, "Late", UID(1, 2));
    wait(delay(25));
    ASSERT_EQ(trace.lines().size(), 1u);
    ASSERT(trace.lines()[0].ends_with("\"LateProcessCount\":3,\"LoggingDelay\":10}"));
    state int checks = 0;
    begin = now();
    wait(checkUntil(0.5, [&n = checks] { return ++n == 4; }));
    ASSERT(isAbout(now() - begin, 2));
    ASSERT((delay(1) && Void()).isReady() == false && (Void() || delay(1)).isReady());
    int second = wait(delay(1) + after(0.5, 6));
    ASSERT(second == 6 && isAbout(now() - begin, 3));
    return Void();
}

ACTOR static Future<ErrorOr<Void>> outcome(double seconds, bool isGood) {
    wait(delay(seconds));
    return isGood ? ErrorOr<Void>(Void()) : ErrorOr<Void>(io_error());
}

TEST_CASE("/compat/generic actors/several") {
    state double begin = now();
    wait(waitForMost({ outcome(1, true), outcome(2, true), outcome(9, true), outcome(1, false) }, 2, timed_out(), 2.0));
    ASSERT(isAbout(now() - begin, 6));
    try {
        wait(waitForMost({ outcome(1, false), outcome(2, false), outcome(9, true) }, 1, timed_out()));
        UNREACHABLE();
    } catch (Error& e) {
        ASSERT(e.code() == error_code_timed_out && isAbout(now() - begin, 8));
    }
    int first = wait(waitForFirst(std::vector<Future<int>>{ after(2, 1), after(1, 5) }));
    ASSERT_EQ(first, 5);
    state PromiseStream<int> values;
    state PromiseStream<Error> errors;
    state Future<Void> running = makeStream(std::vector<Future<int>>{ after(2, 1), after(1, -1) }, values, errors);
    Error failure = waitNext(errors.getFuture());
    ASSERT_EQ(failure.code(), error_code_io_error);
    int one = waitNext(values.getFuture());
    ASSERT(one == 1 && !running.isReady());
    running = makeStream(std::vector<Future<int>>{ Never() }, values, errors);
    running.cancel();
    ASSERT(!errors.getFuture().isReady());

    state PromiseStream<int> input;
    state PromiseStream<int> output;
    state Future<Void> mapped = mapAsync(input.getFuture(), [](int x) { return after(5 - x, 10 * x); }, output);
    input.send(1);
    input.send(4);
    input.sendError(end_of_stream());
    begin = now();
    state int ten = waitNext(output.getFuture());
    int forty = waitNext(output.getFuture());
    ASSERT(ten == 10 && forty == 40 && isAbout(now() - begin, 4));
    wait(mapped);
    std::vector<int> sums = wait(getAll(map(std::vector<Future<int>>{ 1, 2 }, [](int x) { return x + 1; })));
    ASSERT(sums == (std::vector<int>{ 2, 3 }));

    state std::vector<Promise<int>> promises(3);
    wait(incrementalBroadcastWithError(Future<int>(io_error()), promises, 2));
    ASSERT(promises[0].getFuture().isError() && promises[2].getFuture().isError());
    ASSERT(sorted(parseStringToVector<int>("3,1,2", ',')) == (std::vector<int>{ 1, 2, 3 }));
    ASSERT_EQ(parseStringToUnorderedSet<std::string>("a:b:a", ':').size(), 2u);
    return Void();
}

TEST_CASE("/compat/generic actors/errors") {
    try {
        wait(success(brokenPromiseToMaybeDelivered(Promise<int>().getFuture())));
        UNREACHABLE();
    } catch (Error& e) {
        ASSERT_EQ(e.code(), error_code_request_maybe_delivered);
    }
    int there = wait(require(Future<Optional<int>>(Optional<int>(3)), error_code_lookup_failed));
    ASSERT_EQ(there, 3);
    ErrorOr<int> absent = wait(errorOr(require(Future<Optional<int>>(Optional<int>()), error_code_lookup_failed)));
    ASSERT(absent.isError(error_code_lookup_failed));
    state PromiseStream<int> stream;
    state Future<int> forwarded = forwardErrors(after(1, -1), stream);
    try {
        int never = waitNext(stream.getFuture());
        (void)never;
        UNREACHABLE();
    } catch (Error& e) {
        ASSERT_EQ(e.code(), error_code_io_error);
    }
    wait(ready(forwarded));
    ASSERT(forwarded.isError());
    state Promise<int> promise;
    state Promise<int> failing;
    state Future<int> sent = promise.getFuture();
    state Future<int> broken = failing.getFuture();
    tagAndForward(&promise, 4, delay(1));
    tagAndForwardError(&failing, timed_out(), delay(1));
    wait(delay(0.5));
    ASSERT(!sent.isReady() && !broken.isReady());
    wait(ready(sent) && ready(broken));
    ASSERT(sent.get() == 4 && broken.getError().code() == error_code_timed_out);
    Future<int> original = after(1, 2);
    Future<int> other = detach(original);
    other.cancel();
    ASSERT(!original.isReady());
    return Void();
}

ACTOR static Future<Void> useBounded(BoundedFlowLock* lock, double seconds, std::string* order, char id) {
    state int64_t permit = wait(lock->take());
    state BoundedFlowLock::Releaser releaser(lock, permit);
    *order += id;
    wait(delay(seconds));
    return Void();
}

TEST_CASE("/compat/counters") {
    state BoundedFlowLock lock(1, 2);
    state FlowLock permits(3);
    state NotifiedInt version(3);
    state std::string order;
    state std::vector<Future<Void>> users;
    state int64_t amount = 5;
    state Future<Void> four = version.whenAtLeast(4);
    state Future<Void> six = version.whenAtLeast(6);
    ASSERT(version.whenAtLeast(3).isReady());
    version.set(5);
    ASSERT(four.isReady() && !six.isReady() && version.get() == 5);
    version = NotifiedInt(1);
    ASSERT(six.getError().code() == error_code_broken_promise);

    for (char id = 'a'; id < 'g'; ++id)
        users.push_back(useBounded(&lock, id == 'a' ? 5 : 1, &order, id));
    wait(delay(3));
    ASSERT_EQ(order, "abc"); // the first holds the rest up
    users[3].cancel();
    wait(delay(3));
    ASSERT_EQ(order, "abcef");
    wait(waitForAllReady(users));

    state ActiveCounter<int> counter(1);
    state bool isReleased = false;
    {
        ActiveCounter<int>::Releaser releaser = counter.take(2, [&r = isReleased] { r = true; });
        ActiveCounter<int>::Releaser other = std::move(releaser);
        ASSERT(counter.getValue() == 3 && !isReleased);
    }
    ASSERT(counter.getValue() == 1 && isReleased);

    state AndFuture all;
    ASSERT(all.isReady());
    all.add(delay(1));
    all.add(Void());
    all.add(delay(2));
    ASSERT(!all.isReady() && all.getFutureCount() == 3);
    state double begin = now();
    wait(all.getFuture());
    ASSERT(isAbout(now() - begin, 2) && all.isReady());
    all.add(Future<Void>(io_error()));
    ASSERT(all.isError() && all.getFuture().getError().code() == error_code_io_error);
    wait(permits.takeUpTo(amount));
    ASSERT_EQ(amount, 3);
    return Void();
}

TEST_CASE("/compat/variables") {
    state Reference<AsyncVar<int>> variable = makeReference<AsyncVar<int>>(1);
    state flow::TraceMemory trace;
    state Future<Void> resetting = resetAfter(variable, 2.0, 0, 1, 10.0, "Often");
    wait(delay(1.5));
    variable->set(5); // the time goes on
    wait(delay(1));
    ASSERT(variable->get() == 0 && trace.lines().empty());
    variable->set(5);
    wait(delay(2.5));
    ASSERT_EQ(trace.lines().size(), 1u);
    state Reference<AsyncVar<int>> copy = makeReference<AsyncVar<int>>(7);
    state Future<Void> copying = delayedAsyncVar(variable, copy, 1.0);
    wait(delay(1.5));
    ASSERT_EQ(copy->get(), 0);
    variable->set(3);
    copying.cancel();
    ASSERT_EQ(copy->get(), 3);
    state AsyncTrigger changed;
    state Future<Void> forwarding = forward(variable, &changed);
    state Future<Void> triggered = changed.onTrigger();
    variable->set(4);
    ASSERT(triggered.isReady());
    state PromiseStream<double> times;
    wait(timeReply(after(1, 1), times) && timeReply(Promise<int>().getFuture(), times));
    ErrorOr<Void> failed = wait(errorOr(timeReply(after(1, -1), times)));
    ASSERT(failed.isError(error_code_io_error) && isAbout(times.getFuture().pop(), 1) && !times.getFuture().isReady());
    state Future<int> yielded = orYield(Future<int>(io_error()));
    ASSERT(yielded.isError() != check_yield());
    return Void();
}

TEST_CASE("/compat/YieldedAsyncMap") {
    state YieldedAsyncMap<int, int> yam;
    state Future<Void> y1 = yam.onChange(1);
    state Future<Void> y1a = yam.onChange(1);
    state Future<Void> y2 = yam.onChange(2);
    ASSERT_EQ(yam.count(1), 1);
    y1.cancel();
    ASSERT(!y1a.isReady());
    yam.set(1, 5);
    wait(y1a);
    ASSERT(!y2.isReady());
    y2.cancel();
    ASSERT_EQ(yam.count(2), 0);
    ASSERT_EQ(yam.get(1), 5);
    yam.triggerAll();
    return Void();
}

struct YieldMockNetwork final : INetwork, ReferenceCounted<YieldMockNetwork> {
    int ticks = 0;
    int nextYield = 0;
    Promise<Void> nextTick;
    INetwork* baseNetwork;

    YieldMockNetwork() : baseNetwork(g_network) { g_network = this; }
    ~YieldMockNetwork() { g_network = baseNetwork; }
    void tick() {
        ticks++;
        Promise<Void> t;
        t.swap(nextTick);
        t.send(Void());
    }
    Future<Void> delay(double, TaskPriority) override { return nextTick.getFuture(); }
    Future<Void> yield(TaskPriority taskID) override {
        if (check_yield(taskID))
            return delay(0, taskID);
        return Void();
    }
    bool check_yield(TaskPriority) override {
        if (nextYield > 0)
            --nextYield;
        return nextYield == 0;
    }
    double now() const override { return 1000 + ticks; }
};

TEST_CASE("/compat/a network of the test's") {
    state Reference<YieldMockNetwork> yn = makeReference<YieldMockNetwork>();
    state Future<Void> nap = delay(5.0);
    {
        Promise<Void> p;
        Future<Void> u = p.getFuture();
        Future<Void> i = success(u);
        std::vector<Future<Void>> v;
        for (int j = 0; j < 5; j++)
            v.push_back(yieldedFuture(u));
        auto numReady = [&v]() {
            return std::count_if(v.begin(), v.end(), [](Future<Void> v) { return v.isReady(); });
        };
        ASSERT(numReady() == 0);
        p.send(Void());
        ASSERT(u.isReady() && i.isReady() && numReady() == 0);
        for (int j = 0; j < 5; j++) {
            yn->tick();
            ASSERT(numReady() == j + 1);
        }
    }
    ASSERT(nap.isReady() && now() == 1005);
    yn.clear();
    ASSERT(now() < 1000);
    wait(delay(1.0));
    return Void();
}

TEST_CASE("/compat/probes and traces") {
    state flow::TraceMemory trace;
    TraceEvent("CompatTest").detail("Answer", 42);
    CODE_PROBE(true, "a probe of the compat test");
    state Future<Void> bad = reportErrors(success(after(0, -1)), "CompatFailure");
    wait(delay(0.5));
    ASSERT(bad.isError());
    bool found = false;
    for (auto const& line : trace.lines())
        found = found || line.find("CompatFailure") != std::string::npos;
    ASSERT(found);
    return Void();
}

ACTOR static Future<Void> runOne(UnitTest* test) {
    try {
        wait(test->func(UnitTestParameters()));
        printf("ok %s\n", test->name);
    } catch (Error& e) {
        printf("FAILED %s: %s\n", test->name, e.name());
    }
    return Void();
}

ACTOR static Future<Void> runAll() {
    state std::map<std::string, UnitTest*> tests;
    for (auto t = g_unittests.tests; t != nullptr; t = t->next)
        tests[t->name] = t;
    state std::map<std::string, UnitTest*>::iterator it = tests.begin();
    for (; it != tests.end(); ++it)
        wait(runOne(it->second));
    return Void();
}

int main() {
    flow::SimLoop simulation;
    ASSERT(g_network->isSimulated());
    Future<Void> f = stopAfter(runAll());
    g_network->run();
    return f.isReady() && !f.isError() ? 0 : 1;
}
