// Generic actors that combine futures and streams, and classes that keep futures.
#include "flow/CoroUtils.h"
#include "flow/genericactors.actor.h"
#include "flow/sim/sim_loop.h"
#include "flow/actorcompiler.h" // This must be the last #include.

/// The code that the future fails with; 0 for a value.
template <class T>
static int codeOf(Future<T> const& future) {
    return future.isError() ? future.getError().code() : 0;
}

/// What the stream has, and the code of its end; 0 if it has none.
static std::pair<std::string, int> takenFrom(FutureStream<StringRef> stream) {
    std::string all;
    while (stream.isReady()) {
        if (stream.isError())
            return { all, stream.getError().code() };
        all += stream.pop().toString();
    }
    return { all, 0 };
}

static void merged() {
    PromiseStream<StringRef> a, b, output;
    Future<Void> merging = unorderedMergeStreams(a.getFuture(), b.getFuture(), output);
    b.send("b"_sr);
    a.send("a"_sr);
    b.sendError(end_of_stream());
    a.send("c"_sr);
    ASSERT(takenFrom(output.getFuture()) == std::make_pair(std::string("bac"), 0) && !merging.isReady());
    a.sendError(end_of_stream());
    ASSERT(takenFrom(output.getFuture()).second == error_code_end_of_stream && codeOf(merging) == 0 && merging.isReady());

    PromiseStream<StringRef> failing, waiting, failed;
    merging = unorderedMergeStreams(failing.getFuture(), waiting.getFuture(), failed);
    failing.sendError(io_error());
    ASSERT(takenFrom(failed.getFuture()).second == error_code_io_error && codeOf(merging) == 0 && merging.isReady());
}

static void mergedInOrder() {
    PromiseStream<StringRef> a, b, output;
    Future<Void> merging = orderedMergeStreams(a.getFuture(), b.getFuture(), output);
    a.send("b"_sr);
    a.send("d"_sr);
    ASSERT(takenFrom(output.getFuture()).first.empty());
    for (StringRef each : { "a"_sr, "b"_sr, "c"_sr })
        b.send(each);
    ASSERT_EQ(takenFrom(output.getFuture()).first, "abc");
    b.sendError(end_of_stream());
    ASSERT_EQ(takenFrom(output.getFuture()).first, "d");
    a.send("e"_sr);
    a.sendError(end_of_stream());
    ASSERT(takenFrom(output.getFuture()) == std::make_pair(std::string("e"), int(error_code_end_of_stream)));
    ASSERT(merging.isReady() && codeOf(merging) == 0);

    PromiseStream<StringRef> failing, waiting, failed;
    merging = orderedMergeStreams(failing.getFuture(), waiting.getFuture(), failed);
    failing.send("a"_sr);
    waiting.send("b"_sr);
    failing.sendError(io_error());
    ASSERT(takenFrom(failed.getFuture()) == std::make_pair(std::string("a"), int(error_code_io_error)));

    PromiseStream<StringRef> quiet, broken, ended;
    merging = orderedMergeStreams(quiet.getFuture(), broken.getFuture(), ended);
    broken.sendError(io_error());
    ASSERT(takenFrom(ended.getFuture()) == std::make_pair(std::string(), int(error_code_io_error)));
}

ACTOR Future<Void> times() {
    state double begin = now();
    state Reference<AsyncVar<bool>> degraded = makeReference<AsyncVar<bool>>(false);
    state flow::TraceMemory* trace = new flow::TraceMemory;
    state Future<int> never = Future<int>(Never());
    state int five = wait(delay(1) >> Future<int>(5));
    state int six = wait(delay(1) >>= [](Void) { return Future<int>(6); });
    wait(Future<int>(five) >> delay(1));
    wait(Future<int>(six) + delay(1));
    ASSERT(five == 5 && six == 6 && now() - begin == 4);
    begin = now();
    int seven = wait(delayActionJittered(Future<int>(7), 10));
    ASSERT(seven == 7 && now() - begin > 5 && now() - begin < 15);
    int eight = wait(ioTimeoutError(delayed(Future<int>(8), 1), 2));
    ASSERT(eight == 8 && trace->lines().empty());
    begin = now();
    state ErrorOr<int> result = wait(errorOr(ioTimeoutError(never, 2, "reading")));
    ASSERT(result.isError(error_code_io_timeout) && result.getError().isInjectedFault() && now() - begin > 1.9);
    ASSERT(trace->lines().size() == 1 && trace->lines()[0].find(R"("Type":"IoTimeoutError")") != std::string::npos);
    ASSERT(trace->lines()[0].find(R"("Context":"reading")") != std::string::npos);
    begin = now();
    int nine = wait(ioDegradedOrTimeoutError(delayed(Future<int>(9), 1), 5, degraded, 2));
    ASSERT(nine == 9 && !degraded->get());
    wait(ioDegradedOrTimeoutError(Future<Void>(delay(3)), 5, degraded, 2));
    ASSERT(degraded->get() && trace->lines().size() == 2 && now() - begin < 4.5);
    begin = now();
    wait(store(result, errorOr(ioDegradedOrTimeoutError(never, 5, degraded, 2))));
    ASSERT(result.isError(error_code_io_timeout) && now() - begin >= 5 && now() - begin < 6);
    begin = now();
    wait(store(result, errorOr(ioDegradedOrTimeoutError(never, 2, degraded, 5))));
    ASSERT(result.isError(error_code_io_timeout) && now() - begin >= 2 && now() - begin < 3);
    delete trace;
    return Void();
}

static void values() {
    int stored = 0;
    Promise<Optional<int>> found;
    Future<Void> storing = storeOrThrow(stored, found.getFuture(), io_error());
    found.send(Optional<int>(5));
    ASSERT(storing.isReady() && codeOf(storing) == 0 && stored == 5);
    ASSERT_EQ(codeOf(storeOrThrow(stored, Future<Optional<int>>(Optional<int>()), io_error())), error_code_io_error);
    ASSERT_EQ(codeOf(storeOrThrow(stored, Future<Optional<int>>(timed_out()), io_error())), error_code_timed_out);

    auto twice = [](int n) { return Future<int>(2 * n); };
    ASSERT((Future<int>(4) >>= twice).get() == 8 && runAfter(Future<int>(3), twice).get() == 6);
    ASSERT((Future<Void>(Void()) >> Future<int>(4)).get() == 4 && runAfter(Future<int>(3), Future<int>(4)).get() == 4);
    Promise<int> kept;
    Future<int> result = kept.getFuture();
    uncancellable(Future<int>(4), kept);
    ASSERT_EQ(result.get(), 4);

    PromiseStream<int> numbers;
    FutureStream<int> taken = numbers.getFuture();
    Promise<Void> signal;
    Future<Void> tagging = tag(signal.getFuture(), 1, numbers);
    tagAndForward(&numbers, 2, signal.getFuture());
    ASSERT(!taken.isReady());
    signal.send(Void());
    ASSERT(tagging.isReady() && taken.isReady());
    int first = taken.pop(), second = taken.pop();
    ASSERT(first + second == 3 && !taken.isReady());
    tagAndForwardError(&numbers, io_error(), Future<Void>(Void()));
    ASSERT(taken.isError() && taken.getError().code() == error_code_io_error);

    flow::TraceMemory trace;
    auto length = [](std::string const& text) { return text.empty() ? throw io_error() : text.size(); };
    ASSERT_EQ(traceAfterCall(Future<std::string>(std::string("four")), "After", "Length", length).get(), "four");
    ASSERT(traceAfterCall(Future<std::string>(std::string()), "After", "Length", length).get().empty());
    ASSERT(traceAfterCall(Future<std::string>(timed_out()), "After", "Length", length).isError());
    ASSERT(traceAfterCall(Future<std::string>(timed_out()), "After", "Length", length, true).isError());
    ASSERT(trace.lines().size() == 3 && trace.lines()[0].ends_with(R"("Type":"After","Length":4})"));
    ASSERT(trace.lines()[1].find(R"("TraceAfterCallError")") != std::string::npos);
    ASSERT(trace.lines()[2].find(R"("Error":"timed_out")") != std::string::npos);
}

struct File : ReferenceCounted<File> {
    static inline int open = 0;
    File() { ++open; }
    ~File() { --open; }
};

static void keptFutures() {
    Promise<int> number;
    Promise<Void> done;
    WorkerCache<int> cache;
    UID id(1, 2);
    cache.set(id, number.getFuture());
    Future<Void> removing = cache.removeOnReady(id, done.getFuture());
    number.send(7);
    ASSERT(cache.exists(id) && cache.get(id).get() == 7 && !removing.isReady());
    done.sendError(io_error());
    ASSERT(!cache.exists(id) && codeOf(removing) == error_code_io_error);
    cache.set(id, Future<int>(8));
    removing = cache.removeOnReady(id, Future<Void>(Never()));
    ASSERT(cache.exists(id));
    removing = Void();
    ASSERT(!cache.exists(id));

    Promise<Reference<File>> opened;
    UnsafeWeakFutureReference<File> none, weak(opened.getFuture());
    ASSERT(!none.get().get() && !none.getPtrIfReady().present() && !weak.getPtrIfReady().present());
    Future<Reference<File>> waiting = weak.get();
    ASSERT(!waiting.isReady());
    Reference<File> file = makeReference<File>();
    opened.send(file);
    ASSERT(waiting.get() == file && weak.get().get() == file && weak.getPtrIfReady().get() == file.getPtr());
    waiting = Future<Reference<File>>();
    opened = Promise<Reference<File>>();
    ASSERT_EQ(File::open, 1);
    file = Reference<File>();
    ASSERT_EQ(File::open, 0);
    UnsafeWeakFutureReference<File> failed{ Future<Reference<File>>(io_error()) };
    ASSERT_EQ(codeOf(failed.get()), error_code_io_error);
}

static void notified() {
    Notified<std::string> name("b");
    Future<Void> now = name.whenAtLeast("a"), later = name.whenAtLeast("d"), last = name.whenAtLeast("x");
    ASSERT(now.isReady() && !later.isReady() && name.numWaiting() == 2);
    name = std::string("e");
    ASSERT(later.isReady() && !last.isReady() && name.get() == "e" && name.numWaiting() == 1);
    NotifiedDouble seconds(0.5);
    Future<Void> half = seconds.whenAtLeast(0.75);
    Notified<double> moved = std::move(seconds);
    moved.set(1);
    ASSERT(half.isReady() && moved.get() == 1);
}

static void chosen() {
    Promise<int> value;
    Promise<Void> end;
    Future<int> first = timeoutChoose(value.getFuture(), end.getFuture(), 9);
    Future<Void> nothing = timeoutChoose(Future<Void>(Never()), end.getFuture(), Void());
    Future<int> late = timeoutChoose(Future<int>(Never()), end.getFuture(), 9);
    value.send(4);
    ASSERT(first.get() == 4 && !nothing.isReady());
    end.send(Void());
    ASSERT(late.get() == 9 && nothing.isReady());
    ASSERT_EQ(codeOf(timeoutChoose(Future<int>(io_error()), Future<Void>(Never()), 9)), error_code_io_error);
}

Future<int> raced() {
    coro::RaceResult<Future<int> const&, FutureStream<bool>> first = co_await race(Future<int>(3), FutureStream<bool>(PromiseStream<bool>().getFuture()));
    co_return std::get<0>(first);
}

int main() {
    flow::SimLoop simulation;
    merged();
    mergedInOrder();
    values();
    keptFutures();
    notified();
    chosen();
    ASSERT_EQ(raced().get(), 3);
    Future<Void> f = times();
    g_network->run();
    f.get();
    printf("all\n");
    return 0;
}
