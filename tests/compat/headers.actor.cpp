// Every header of the compat folder, what the smaller ones hold, and a loop on the machine's clock.
#include "flow/forward.h"
#include "flow/ActorCollection.h"
#include "flow/Arena.h"
#include "flow/CodeProbe.h"
#include "flow/CoroUtils.h"
#include "flow/Coroutines.h"
#include "flow/CoroutinesImpl.h"
#include "flow/DeterministicRandom.h"
#include "flow/Error.h"
#include "flow/FastAlloc.h"
#include "flow/FastRef.h"
#include "flow/FlowThread.h"
#include "flow/IRandom.h"
#include "flow/Knobs.h"
#include "flow/Platform.h"
#include "flow/Optional.h"
#include "flow/TLSConfig.h"
#include "flow/TaskPriority.h"
#include "flow/ThreadPrimitives.h"
#include "flow/Trace.h"
#include "flow/Traceable.h"
#include "flow/UnitTest.h"
#include "flow/Util.h"
#include "flow/flow.h"
#include "flow/genericactors.actor.g.h"
#include "flow/genericactors.actor.h"
#include "flow/genericactors.h"
#include "flow/IAsyncFile.h"
#include "flow/ProtocolVersion.h"
#include "flow/TLSConfig.actor.h"
#include "flow/flat_buffers.h"
#include "flow/memory/allocation_watch.h"
#include "flow/network.h"
#include "flow/serialize.h"
#include "flow/sim/sim_loop.h"
#include "flow/actorcompiler.h" // This must be the last #include.

static_assert(is_fb_function<ObjectWriter> && is_fb_function<ArenaObjectReader> && !is_fb_function<BinaryReader>);

enum {
#define ERROR(name, number, description) my_error_##name = number,
#include "flow/error_definitions.h"
};

static int plainLoop() {
    int passes = 0;
    loop {
        if (++passes == 3)
            return passes;
    }
}

ACTOR Future<Void> work(int id, double seconds) {
    state double begin = now();
    wait(delay(seconds, TaskPriority::DiskRead));
    ASSERT(now() - begin >= seconds);
    ASSERT(g_network->getCurrentTask() == TaskPriority::DiskRead);
    printf("work %d\n", id);
    wait(delayJittered(0.001));
    wait(orderedDelay(0) && delayUntil(now() + 0.001));
    return Void();
}

ACTOR Future<Void> test() {
    state ActorCollection actors(true);
    actors.add(work(2, 0.02));
    actors.add(work(1, 0.01));
    wait(actors.getResult());
    state Promise<Void> signal;
    state Future<Void> signalled = signal.getFuture();
    g_network->onMainThread(std::move(signal), TaskPriority::Low);
    ASSERT(!signalled.isReady());
    wait(signalled);
    try {
        wait(reportErrors(Future<Void>(operation_cancelled()), "Test"));
    } catch (Error& e) {
        printf("%s %d\n", e.name(), e.code() == error_code_operation_cancelled);
    }
    return Void();
}

ACTOR Future<Void> collections() {
    state PromiseStream<Future<Void>> stream;
    state Future<Void> fed = actorCollection(stream.getFuture());
    state ActorCollectionNoErrors silent;
    state SignalableActorCollection signalled;
    stream.send(delay(0.001));
    silent.add(delay(0.001));
    signalled.add(delay(0.001));
    wait(signalled.signal());
    std::vector<Future<int>> numbers = { 1, 2 };
    std::vector<int> values = wait(getAll(numbers));
    FlowMutex::Lock().error(Error::fromCode(error_code_timed_out));
    ASSERT(values.size() == 2 && silent.size() >= 0 && !fed.isReady());
    Standalone<StringRef> key = LiteralStringRef("b").withPrefix("a"_sr).withSuffix("c"_sr);
    ASSERT(key == "abc"_sr);
    ASSERT(isalnum(deterministicRandom()->randomAlphaNumeric()));
    ASSERT(deterministicRandom()->peek() == deterministicRandom()->randomUInt64());
    return Void();
}

Future<int> coroutine(Future<int> a) {
    auto first = co_await race(a, flow::delay(1.0));
    co_return std::get<0>(first) + 1;
}

struct Count : flow::memory::AllocationWatch {
    int blocks = 0;
    void allocated(void*, void*) noexcept override { ++blocks; }
};

ACTOR Future<Void> delaysAllocateNothing() {
    state Promise<Void> never;
    state Future<Void> other = never.getFuture();
    state std::unique_ptr<Count> count = std::make_unique<Count>();
    wait(delay(0));
    wait(delayUntil(0, TaskPriority::Low));
    ASSERT(count->blocks == 0);
    count.reset();
    choose {
        when(wait(delay(0))) {}
        when(wait(other)) { ASSERT(false); }
    }
    return Void();
}

/// Blocks that waits for such delays take.
template <class D>
Future<int> blocksOf(D make) {
    Count count;
    co_await make(0.0);
    co_await make(0.0005);
    auto first = co_await race(make(0.0), make(1.0));
    ASSERT(first.index() == 0);
    co_return count.blocks;
}
Future<Void> propagates(flow::Propagate) {
    co_await delay(0);
    co_await delay(0.0005);
}

Future<Void> delays() {
    auto native = [](double seconds) { return flow::delay(seconds); };
    auto ours = [](double seconds) { return delay(seconds); };
    ASSERT(co_await blocksOf(ours) == co_await blocksOf(native));
    co_await propagates({});
    Future<Void> cancelled = propagates({});
    co_await delay(0.0001);
    cancelled.cancel();
    ASSERT(cancelled.isError());

    auto timer = delay(0.001);
    int passes = 0;
    for (; !timer.isReady(); ++passes)
        co_await delay(0.0001);
    co_await timer;
    ASSERT(passes > 0 && now() >= 0.001);
    bool isLimited = passes > 0;
    Future<Void> limited = isLimited ? delay(0.0001) : Never(), unlimited = isLimited ? Never() : delay(0.0001);
    Future<Void> atOnce = isLimited ? Void() : delay(0.0001);
    co_await limited;
    ASSERT(atOnce.isReady() && !unlimited.isReady());
    std::vector<Future<Void>> all{delay(0.0001), delay(0)};
    all.push_back(delay(0));
    co_await (waitForAll(all) && delay(0) && success(delay(0)) && (delay(0) || delay(9)));
    int five = co_await map(delay(0), [](Void) { return 5; });
    co_await mapAsync(Future<int>(five), [](int) { return delay(0); });
    ErrorOr<Void> result = co_await errorOr(delay(0));
    Optional<Void> late = co_await timeout(delay(9), 0.0001);
    ASSERT(result.present() && !late.present() && five == 5);
    co_await holdWhile(five, delay(0));
    co_await uncancellable(delayJittered(0.0001));
    co_await coro::ignore(delay(0));
    co_await Choose().When(delay(0), [&](Void const&) { five = 6; }).When(ours(9), [](Void const&) {}).run();
    ASSERT(five == 6);
}

/// Gives what the test has put there.
struct GivenNetwork final : INetwork {
    Future<Void> next;
    Future<Void> delay(double, TaskPriority) override { return next; }
};
Future<Void> waitsOnce() {
    co_await delay(1);
}
ACTOR Future<Void> choosesOnce(Future<Void> other) {
    choose {
        when(wait(delay(1))) { throw io_error(); }
        when(wait(other)) {}
    }
    return Void();
}
static void givenDelays() {
    GivenNetwork mock;
    Promise<Void> first, second, other;
    g_network = &mock;
    mock.next = Void();
    ASSERT(waitsOnce().isReady());
    mock.next = timed_out();
    ASSERT(waitsOnce().getError().code() == error_code_timed_out);
    mock.next = first.getFuture();
    Future<Void> one = waitsOnce(), two = delay(1) && delay(2), lost = choosesOnce(other.getFuture());
    other.send(Void());
    ASSERT(lost.isReady() && !lost.isError() && !one.isReady());
    first.send(Void());
    ASSERT(one.isReady() && two.isReady());
    mock.next = second.getFuture();
    one = waitsOnce();
    two = choosesOnce(Never());
    lost = waitsOnce();
    lost.cancel();
    g_network = nullptr;
    second.sendError(timed_out()); // they go on waiting for what they were given
    ASSERT(one.getError().code() == error_code_timed_out && two.getError().code() == error_code_timed_out);
}

Future<Void> files(std::string folder) {
    IAsyncFileSystem* system = IAsyncFileSystem::filesystem();
    std::string name = folder + "/file", part = name + ".part";
    Reference<IAsyncFile> file = co_await system->open(
        name, IAsyncFile::OPEN_READWRITE | IAsyncFile::OPEN_CREATE | IAsyncFile::OPEN_ATOMIC_WRITE_AND_CREATE, 0644);
    char text[] = "hello, world";
    Future<Void> written = file->write(text, 12, 0);
    text[0] = 'J'; // the bytes were copied
    co_await written;
    ASSERT(file->getFilename() == name && std::filesystem::exists(part) && !std::filesystem::exists(name));
    co_await (file->sync() && file->sync());
    ASSERT(!std::filesystem::exists(part) && std::filesystem::exists(name));
    char read[20] = {};
    int count = co_await file->read(read, 5, 0);
    ASSERT(count == 5 && std::string(read) == "hello");
    count = co_await file->read(read, 20, 7);
    ASSERT(count == 5 && std::string(read, 5) == "world" && co_await file->size() == 12);
    co_await file->zeroRange(1, 2);
    co_await file->truncate(4);
    co_await file->flush();
    count = co_await file->read(read, 20, 0);
    ASSERT(count == 4 && std::string(read, 4) == std::string("h\0\0l", 4));
    ErrorOr<Reference<IAsyncFile>> again =
        co_await errorOr(system->open(name, IAsyncFile::OPEN_CREATE | IAsyncFile::OPEN_EXCLUSIVE, 0644));
    ASSERT(again.isError(error_code_io_error));
    ASSERT(co_await system->lastWriteTime(name) > 0);
    co_await system->renameFile(name, part);
    co_await system->deleteFile(part, true);
    again = co_await errorOr(system->open(part, IAsyncFile::OPEN_READONLY, 0));
    ASSERT(again.isError(error_code_file_not_found));
    ErrorOr<std::time_t> none = co_await errorOr(system->lastWriteTime(part));
    ASSERT(none.isError(error_code_file_not_found));
}
static void ownFileSystem() {
    struct Own final : IAsyncFileSystem {
        Future<Reference<IAsyncFile>> open(std::string const&, int64_t, int64_t) override { return io_error(); }
        Future<Void> deleteFile(std::string const&, bool) override { return Void(); }
        Future<Void> renameFile(std::string const&, std::string const&) override { return Void(); }
        Future<std::time_t> lastWriteTime(std::string const&) override { return std::time_t(0); }
    } own;
    g_network->setGlobal(INetwork::enFileSystem, static_cast<IAsyncFileSystem*>(&own));
    ASSERT(IAsyncFileSystem::filesystem() == &own);
    g_network->setGlobal(INetwork::enFileSystem, nullptr);
}

int main() {
    ASSERT(my_error_timed_out == 1004 && my_error_broken_promise == 1100);
    ASSERT(plainLoop() == 3);

    Event event;
    event.set();
    event.block();
    Mutex mutex;
    {
        MutexHolder holder(mutex);
    }
    volatile int32_t small = 1;
    volatile int64_t large = 1;
    ASSERT(interlockedIncrement(&small) == 2 && interlockedDecrement(&small) == 1);
    ASSERT(interlockedIncrement64(&large) == 2 && interlockedDecrement64(&large) == 1);
    std::vector<int> v = { 1, 2, 3 };
    swapAndPop(&v, 0);
    ASSERT((v == std::vector<int>{ 3, 2 }));

    {
        flow::SimLoop simulation;
        Future<Void> f = delaysAllocateNothing();
        g_network->run();
        f.get();
        f = delays();
        g_network->run();
        f.get();
    }
    uint64_t before = timer_int();
    threadSleep(0.001);
    ASSERT(timer_int() > before && timer() > 0 && timer_monotonic() > 0);
    ASSERT(FLOW_KNOBS->DELAY_JITTER_OFFSET + FLOW_KNOBS->DELAY_JITTER_RANGE > 1);

    g_network = newNet2(TLSConfig());
    ASSERT(!g_network->isSimulated() && g_network->isOnMainThread());
    int global = 0;
    ASSERT(g_network->global(3) == nullptr);
    g_network->setGlobal(3, &global);
    ASSERT(g_network->global(3) == &global && g_network->global(2) == nullptr);
    ASSERT(coroutine(41).get() == 42);
    Future<Void> f = stopAfter(test() && collections());
    g_network->run();
    f.get();
    givenDelays();
    ownFileSystem();
    char folder[] = "/tmp/compat-headers-XXXXXX";
    ASSERT(mkdtemp(folder));
    f = stopAfter(files(folder));
    g_network->run();
    f.get();
    std::filesystem::remove(folder);
    return 0;
}
