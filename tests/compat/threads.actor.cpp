// Thread pools, calls from other threads to the main loop, listeners, histograms, and the newer coroutine names.
#include "flow/CoroUtils.h"
#include "flow/Coroutines.h"
#include "flow/Histogram.h"
#include "flow/IThreadPool.h"
#include "flow/ThreadHelper.actor.h"
#include "flow/UnitTest.h"
#include "flow/sim.h"
#include "flow/actorcompiler.h" // This must be the last #include.

struct Doubler : IThreadPoolReceiver {
    bool isPrepared = false;
    void init() override { isPrepared = true; }

    struct Double : TypedAction<Doubler, Double> {
        int value;
        ThreadReturnPromise<int> result;
        explicit Double(int v) : value(v) {}
        double getTimeEstimate() const override { return 0.001; }
    };
    void action(Double& one) {
        ASSERT(isPrepared);
        if (one.value < 0)
            throw io_error();
        one.result.send(2 * one.value);
    }

    struct Count : TypedAction<Doubler, Count> {
        ThreadReturnPromiseStream<int> numbers;
        double getTimeEstimate() const override { return 0.001; }
    };
    void action(Count& count) {
        for (int i = 0; i < 3; ++i)
            count.numbers.send(i);
        count.numbers.sendError(end_of_stream());
    }
};

ACTOR Future<int> askPool(Reference<IThreadPool> pool, int value) {
    state Doubler::Double* action = new Doubler::Double(value);
    state Future<int> answer = action->result.getFuture();
    pool->post(action);
    int result = wait(answer);
    return result;
}

static void dummyPool() {
    Reference<IThreadPool> pool(new DummyThreadPool);
    pool->addThread(new Doubler);
    Future<Void> failure = pool->getError();
    Doubler::Double *good = new Doubler::Double(4), *bad = new Doubler::Double(-1);
    Future<int> answer = good->result.getFuture(), none = bad->result.getFuture();
    pool->post(good);
    pool->post(bad);
    ASSERT(failure.isError() && failure.getError().code() == error_code_io_error);
    g_network->run();
    ASSERT(answer.get() == 8 && none.getError().code() == error_code_broken_promise && pool->stop().isReady());

    PromiseStream<int> stream;
    Event arrived, failed;
    int number = 0;
    Error error;
    forwardEvent(&arrived, &number, &error, stream.getFuture());
    stream.send(7);
    arrived.block();
    ASSERT(number == 7 && !error.isValid());
    forwardEvent(&failed, &number, &error, stream.getFuture());
    stream.sendError(timed_out());
    failed.block();
    ASSERT(number == 7 && error.code() == error_code_timed_out);
}

ACTOR Future<Void> pools() {
    state Reference<IThreadPool> pool = createGenericThreadPool();
    pool->addThread(new Doubler, "doubler");
    state std::vector<Future<int>> answers;
    for (int i = 0; i < 20; ++i)
        answers.push_back(askPool(pool, i));
    std::vector<int> all = wait(getAll(answers));
    for (int i = 0; i < 20; ++i)
        ASSERT(all[i] == 2 * i);

    state Doubler::Count* count = new Doubler::Count;
    state ThreadFutureStream<int> numbers = count->numbers.getFuture();
    state int sum = 0;
    pool->post(count);
    try {
        loop {
            int number = waitNext(numbers);
            sum += number;
        }
    } catch (Error& e) {
        ASSERT(e.code() == error_code_end_of_stream && sum == 3);
    }

    state ErrorOr<int> broken = wait(errorOr(askPool(pool, -1)));
    ASSERT(broken.isError(error_code_broken_promise));
    ErrorOr<Void> failed = wait(errorOr(pool->getError()));
    ASSERT(failed.isError(error_code_io_error));
    wait(pool->stop());
    ErrorOr<int> late = wait(errorOr(askPool(pool, 1)));
    ASSERT(late.isError(error_code_broken_promise));
    return Void();
}

ACTOR Future<int> slowly(int value) {
    wait(delay(0.001));
    if (value < 0)
        throw timed_out();
    return value + 1;
}

ACTOR Future<Void> waitForSignal(Future<Void> signal, int* cancelled) {
    try {
        wait(signal);
    } catch (Error& e) {
        *cancelled += e.code() == error_code_actor_cancelled;
        throw;
    }
    return Void();
}

static void otherThread(Promise<Void>* done, int* ran) {
    ThreadFuture<int> good = onMainThread([] { return slowly(1); });
    ASSERT(good.getBlocking() == 2 && good.isReady() && !good.isError());
    ThreadFuture<int> bad = onMainThread([] { return slowly(-1); });
    bad.blockUntilReady();
    ASSERT(bad.isError() && bad.getError().code() == error_code_timed_out);
    onMainThreadVoid([ran] { ++*ran; });
    onMainThreadVoid([done] { done->send(Void()); });
}

ACTOR Future<Void> calls() {
    state Promise<Void> done;
    state int ran = 0;
    state int cancelled = 0;
    state std::thread thread(otherThread, &done, &ran);
    wait(done.getFuture());
    thread.join();
    ASSERT(ran == 1);

    int value = wait(safeThreadFutureToFuture(onMainThread([] { return slowly(2); })));
    ASSERT(value == 3);
    int ready = wait(safeThreadFutureToFuture(ThreadFuture<int>(7)));
    ASSERT(ready == 7);
    ErrorOr<int> failed = wait(errorOr(safeThreadFutureToFuture(ThreadFuture<int>(io_error()))));
    ASSERT(failed.isError(error_code_io_error));

    state Promise<Void> never;
    state int* counter = &cancelled;
    state Future<Void> signal = never.getFuture();
    state ThreadFuture<Void> hung =
        onMainThread([s = signal, c = counter]() -> Future<Void> { return waitForSignal(s, c); });
    state Future<Void> dropped = safeThreadFutureToFuture(hung);
    wait(delay(0.001));
    dropped = Future<Void>();
    wait(delay(0.001));
    ASSERT(hung.isError() && hung.getError().code() == error_code_actor_cancelled && cancelled == 1);
    return Void();
}

ACTOR Future<Void> variables() {
    state Reference<AsyncVar<int>> celsius = makeReference<AsyncVar<int>>(20);
    state Reference<IAsyncListener<int>> kelvin = IAsyncListener<int>::create(celsius, [](int c) { return c + 273; });
    ASSERT(kelvin->get() == 293 && IAsyncListener<int>::create(celsius)->get() == 20);
    state Future<Void> change = kelvin->onChange();
    celsius->set(21);
    wait(change);
    ASSERT(kelvin->get() == 294);

    state Reference<AsyncVar<bool>> one = makeReference<AsyncVar<bool>>(false);
    state Reference<AsyncVar<bool>> any = makeReference<AsyncVar<bool>>(true);
    state Future<Void> follower = anyTrue({one, makeReference<AsyncVar<bool>>(false)}, any);
    ASSERT(!any->get());
    one->set(true);
    ASSERT(any->get());
    state std::vector<Promise<int>> promises(3);
    state Future<int> second = promises[1].getFuture();
    wait(incrementalBroadcast(Future<int>(5), promises, 2));
    ASSERT(second.get() == 5 && !cancelOnly(std::vector<Future<Void>>{Never()}).isReady());

    Reference<Histogram> sizes = Histogram::getHistogram("Disk"_sr, "Read"_sr, Histogram::Unit::bytes);
    ASSERT(Histogram::getHistogram("Disk"_sr, "Read"_sr, Histogram::Unit::bytes) == sizes);
    sizes->sample(0);
    sizes->sample(1);
    sizes->sample(1024);
    sizes->sampleSeconds(2e-3);
    ASSERT(sizes->buckets[0] == 2 && sizes->buckets[10] == 2);
    GetHistogramRegistry().logReport(10.0);
    ASSERT(sizes->buckets[0] == 0 && GetHistogramRegistry().lookupHistogram("Disk:Read") == sizes.getPtr());
    Reference<Histogram> parts = Histogram::getHistogram("Cpu"_sr, "Load"_sr, Histogram::Unit::percentageLinear);
    parts->samplePercentage(0.04);
    parts->samplePercentage(9);
    ASSERT(parts->buckets[1] == 1 && parts->buckets[31] == 1);
    return Void();
}

AsyncResult<int> answerOf(NoThrowOnCancel, Future<int> question) {
    int value = co_await question;
    co_return value + 1;
}
template <class T>
Future<T> afterwards(Future<T> what, ExplicitVoid = {}) {
    T value = co_await what;
    co_await delay(0.001);
    co_return value;
}
Generator<int> below(int end) {
    for (int i = 0; i < end; ++i)
        co_yield i;
}
Future<Void> coroutines() {
    int sum = 0;
    bool isLate = false;
    co_await Choose()
        .When(answerOf(NoThrowOnCancel(), 41), [&](int const& answer) { sum += answer; })
        .When([] { return Future<Void>(delay(1.0)); }, [&](Void const&) { isLate = true; })
        .run();
    ASSERT(sum == 42 && !isLate);
    co_await Choose()
        .When(Future<int>(Never()), [&](int const& answer) { sum += answer; })
        .When(Future<Void>(delay(0.001)), [&](Void const&) { isLate = true; })
        .run();
    ASSERT(sum == 42 && isLate);
    PromiseStream<int> stream;
    stream.send(3);
    stream.send(4);
    co_await Choose().When(stream.getFuture(), [&](int const& number) { sum += number; }).run();
    ASSERT(sum == 45);
    try {
        co_await Choose().When(Future<int>(timed_out()), [&](int const&) {}).run();
        ASSERT(false);
    } catch (Error& e) {
        ASSERT(e.code() == error_code_timed_out);
    }
    for (int i : below(3))
        sum += i;
    int count = 0;
    Generator<int> numbers = below(3);
    for (; numbers; ++numbers)
        count += *numbers;
    ASSERT(count == 3 && !numbers && !below(0));
    std::vector<AsyncResult<int>> all;
    all.push_back(answerOf(NoThrowOnCancel(), 1));
    all.push_back(answerOf(NoThrowOnCancel(), 2));
    std::vector<int> values = co_await getAllAsync(std::move(all));
    ASSERT(sum == 48 && (values == std::vector<int>{2, 3}));
    co_await afterwards(Future<Void>(Void()));
    int after = co_await afterwards(Future<int>(3));
    ASSERT(after == 3);
}

static int living = 0;
struct Living {
    Living() { ++living; }
    ~Living() { --living; }
};
AsyncGenerator<int> slowlyBelow(int end, double seconds) {
    Living here;
    for (int i = 0; i < end; ++i) {
        if (seconds > 0)
            co_await delay(seconds);
        co_yield i;
    }
}
AsyncGenerator<std::string> failsAtOnce() {
    throw io_error();
    co_yield "never";
}
Future<int> sumOf(AsyncGenerator<int> numbers) {
    int sum = 0;
    try {
        while (numbers)
            sum += co_await numbers();
    } catch (Error& e) {
        if (e.code() != error_code_end_of_stream)
            throw;
    }
    ASSERT(!numbers);
    co_return sum;
}
Future<Void> generators() {
    AsyncGenerator<int> atOnce = slowlyBelow(4, 0);
    ASSERT(living == 0); // it begins when it is asked
    Future<int> first = atOnce();
    ASSERT(first.isReady() && first.get() == 0 && living == 1);
    int sum = co_await sumOf(std::move(atOnce));
    ASSERT(sum == 6 && living == 0);
    sum = co_await sumOf(slowlyBelow(4, 0.001));
    ASSERT(sum == 6 && living == 0);
    sum = co_await sumOf(map(slowlyBelow(10, 0.001), [](int x) { return x % 2 == 0; }));
    ASSERT(sum == 20);
    {
        AsyncGenerator<int> dropped = slowlyBelow(4, 0.001);
        co_await dropped();
        Future<int> second = dropped();
        dropped = slowlyBelow(4, 0);
        ASSERT(living == 0 && second.isError() && second.getError().code() == error_code_actor_cancelled);
    }
    AsyncGenerator<std::string> failing = failsAtOnce();
    ASSERT(failing);
    Future<std::string> failed = failing();
    ASSERT(failed.isError() && failed.getError().code() == error_code_io_error && !failing);
    failed = failing();
    ASSERT(failed.isError() && failed.getError().code() == error_code_end_of_stream);
    PromiseStream<int> stream;
    stream.send(1);
    Future<int> streamed = sumOf(toGenerator(stream.getFuture()));
    co_await delay(0.001);
    stream.send(2);
    stream.sendError(end_of_stream());
    sum = co_await streamed;
    ASSERT(sum == 3);
}

ACTOR Future<Void> test() {
    wait(pools());
    printf("pools\n");
    wait(variables());
    printf("variables\n");
    wait(coroutines());
    printf("coroutines\n");
    wait(generators());
    printf("generators\n");
    return Void();
}

int main() {
    {
        flow::SimLoop simulation;
        dummyPool();
        Future<Void> done = test();
        g_network->run();
        done.get();
    }
    g_network = newNet2(TLSConfig());
    Future<Void> timer = delay(60); // otherwise run() would end while only the other thread has something to do
    Future<Void> done = stopAfter(test() && calls());
    g_network->run();
    done.get();
    printf("calls\n");
    return 0;
}
