// Every header of the compat folder, what the smaller ones hold, and a loop on the machine's clock.
#include "flow/ActorCollection.h"
#include "flow/Arena.h"
#include "flow/CodeProbe.h"
#include "flow/CoroUtils.h"
#include "flow/Coroutines.h"
#include "flow/DeterministicRandom.h"
#include "flow/Error.h"
#include "flow/FastAlloc.h"
#include "flow/FastRef.h"
#include "flow/IRandom.h"
#include "flow/Knobs.h"
#include "flow/Platform.h"
#include "flow/TLSConfig.h"
#include "flow/ThreadPrimitives.h"
#include "flow/Trace.h"
#include "flow/UnitTest.h"
#include "flow/Util.h"
#include "flow/flow.h"
#include "flow/genericactors.actor.g.h"
#include "flow/genericactors.actor.h"
#include "flow/genericactors.h"
#include "flow/network.h"
#include "flow/serialize.h"
#include "flow/actorcompiler.h" // This must be the last #include.

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
    return 0;
}
