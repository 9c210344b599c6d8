// Level M1: the types that language tests use: Optional, Reference, arenas, AsyncMap, delays, random numbers.
#include "flow/Arena.h"
#include "flow/Error.h"
#include "flow/FastRef.h"
#include "flow/IRandom.h"
#include "flow/sim.h"
#include "flow/genericactors.actor.h"
#include "flow/actorcompiler.h" // This must be the last #include.

struct Session : public ReferenceCounted<Session>, public FastAllocated<Session>, NonCopyable {
    Standalone<StringRef> name;
    int requests = 0;

    explicit Session(StringRef name) : name(name) {}
    ~Session() { printf("~%s\n", name.toString().c_str()); }

    Future<Void> serve(FutureStream<int> in) { return serveImpl(this, in); }

    ACTOR static Future<Void> serveImpl(Session* self, FutureStream<int> in) {
        loop {
            choose {
                when(int n = waitNext(in)) {
                    self->requests += n;
                    printf("%s: %d at %.1f\n", self->name.toString().c_str(), self->requests, now());
                }
                when(wait(delay(2.0))) {
                    printf("%s: idle at %.1f\n", self->name.toString().c_str(), now());
                    return Void();
                }
            }
        }
    }
};

ACTOR Future<Void> holdSession(Reference<Session> session, Future<Void> signal) {
    wait(signal);
    printf("signal: %s has %d\n", printable(session->name).c_str(), session->requests);
    return Void();
}

ACTOR Future<Optional<int>> half(int n) {
    wait(delay(0.1));
    if (n % 2)
        return Optional<int>();
    return n / 2;
}

ACTOR Future<ErrorOr<int>> tryIt(Future<int> f) {
    try {
        int n = wait(f);
        return n;
    } catch (Error& e) {
        return e;
    }
}

ACTOR Future<Void> watchKey(AsyncMap<int, int>* map, int key) {
    loop {
        wait(map->onChange(key));
        printf("key %d is %d\n", key, map->get(key));
        if (map->get(key) == 0)
            return Void();
    }
}

ACTOR Future<Standalone<VectorRef<StringRef>>> words(int count) {
    state Standalone<VectorRef<StringRef>> result;
    state int i = 0;
    for (; i < count; ++i) {
        wait(yield());
        result.push_back_deep(result.arena(), StringRef(format("word%d", i)));
    }
    return result;
}

struct Item {
    int id = 0;
    Standalone<StringRef> name;
    std::vector<double> prices;

    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, id, name, prices);
    }
};

ACTOR Future<Item> copyByBytes(Item item) {
    state BinaryWriter writer(IncludeVersion());
    writer << item;
    wait(delay(0));
    state Standalone<StringRef> bytes = writer.toValue();
    Item copy;
    BinaryReader reader(bytes, IncludeVersion());
    reader >> copy;
    return copy;
}

ACTOR Future<Void> never() {
    state Reference<Session> session = makeReference<Session>("never"_sr);
    wait(delay(0.5));
    return Never();
}

ACTOR Future<Void> test() {
    state AsyncMap<int, int> map;
    state Reference<Session> session = makeReference<Session>("alpha"_sr);
    state PromiseStream<int> requests;
    state Future<Void> serving = session->serve(requests.getFuture());
    state Promise<Void> signal;
    state Future<Void> holding = holdSession(session, signal.getFuture());
    requests.send(1);
    wait(delay(1.0));
    requests.send(2);
    wait(serving);
    signal.send(Void());
    session.clear();
    printf("session is gone: %d\n", holding.isReady());
    holding = Void();

    Optional<int> five = wait(half(10));
    printf("half of 10: %d\n", five.get());
    Optional<int> none = wait(half(7));
    printf("half of 7: %d\n", none.orDefault(-1));

    ErrorOr<int> bad = wait(tryIt(timed_out()));
    printf("bad: %s\n", bad.getError().name());
    ErrorOr<int> good = wait(tryIt(3));
    printf("good: %d\n", good.get());

    state Future<Void> watch1 = watchKey(&map, 1);
    state Future<Void> watch2 = watchKey(&map, 2);
    map.set(1, 10);
    map.set(2, 20);
    map.set(1, 10);
    map.clear(1);
    printf("watches: %d %d\n", watch1.isReady(), watch2.isReady());
    watch2 = Void();

    Standalone<VectorRef<StringRef>> list = wait(words(3));
    for (auto& word : list)
        printf("%s ", word.toString().c_str());
    printf("(%d)\n", list.size());

    Item item;
    item.id = 7;
    item.name = "lamp"_sr;
    item.prices = { 1.5, 2.5 };
    Item copy = wait(copyByBytes(item));
    printf("item %d %s %g\n", copy.id, copy.name.toString().c_str(), copy.prices.back());

    state Future<Void> nothing = never();
    wait(delay(1.0));
    printf("never is ready: %d\n", nothing.isReady());

    setThreadLocalDeterministicRandomSeed(5);
    int a = deterministicRandom()->randomInt(0, 1000);
    setThreadLocalDeterministicRandomSeed(5);
    printf("same: %d\n", a == deterministicRandom()->randomInt(0, 1000));
    printf("ended at %.1f\n", now());
    return Void();
}

ACTOR Future<int> later(int value, double seconds) {
    wait(delay(seconds));
    return value;
}
ACTOR Future<Void> failLater(double seconds) {
    wait(delay(seconds));
    throw io_error();
}
ACTOR Future<int> codeOf(Future<Void> what) {
    ErrorOr<Void> result = wait(errorOr(what));
    return result.isError() ? result.getError().code() : 0;
}

ACTOR Future<Void> streams() {
    state PromiseStream<int> in, even, small, twice;
    state Future<Void> filtered =
        filter(in.getFuture(), [](int x) { return x % 2 == 0; }, even);
    state Future<Void> filteredLater =
        asyncFilter(even.getFuture(), [](int x) { return map(later(x, 0.1), [](int y) { return y < 5; }); }, small);
    state Future<Void> doubled = map(small.getFuture(), [](int x) { return 2 * x; }, twice);
    for (int i = 1; i <= 6; ++i)
        in.send(i);
    in.sendError(end_of_stream());
    state std::vector<int> got;
    try {
        loop {
            int x = waitNext(twice.getFuture());
            got.push_back(x);
        }
    } catch (Error& e) {
        ASSERT(e.code() == error_code_end_of_stream);
    }
    ASSERT((got == std::vector<int>{ 4, 8 }));
    wait(filtered && filteredLater && doubled);
    state PromiseStream<int> broken;
    state Future<int> first = waitAndForward(broken.getFuture());
    broken.send(3);
    ASSERT(first.get() == 3);
    state Future<Void> failed =
        filter(broken.getFuture(), [](int) { return true; }, even);
    broken.sendError(io_error());
    int code = wait(codeOf(failed));
    ASSERT(code == error_code_io_error);
    return Void();
}

ACTOR Future<Void> several() {
    state double begin = now();
    state int code = wait(codeOf(waitForAllReadyThenThrow(std::vector<Future<Void>>{ failLater(1), delay(2) })));
    ASSERT(code == error_code_io_error && now() == begin + 2);
    std::vector<Future<std::vector<int>>> parts = { std::vector<int>{ 1, 2 }, std::vector<int>{ 3 } };
    std::vector<int> all = wait(appendAll(parts));
    ASSERT((all == std::vector<int>{ 1, 2, 3 }));
    begin = now();
    wait(smartQuorum(std::vector<Future<Void>>{ delay(1), delay(1.5), Never() }, 1, 0.25));
    ASSERT(now() == begin + 1.25);
    wait(smartQuorum(std::vector<Future<Void>>{ delay(1), delay(1.5) }, 1, 9));
    ASSERT(now() == begin + 2.75);
    state bool isTrue = wait(allTrue({ Future<bool>(true), Future<bool>(true) }));
    bool isFalse = wait(allTrue({ Future<bool>(true), Future<bool>(false), Future<bool>(Never()) }));
    ASSERT(isTrue && !isFalse);
    begin = now();
    state int chosen = wait(chooseActor(later(1, 2), later(2, 1)));
    int joined = wait(joinWith(Future<int>(5), delay(1)));
    ASSERT(chosen == 2 && joined == 5 && now() == begin + 2);
    int after = wait(runAfter(delay(1), Future<int>(6)));
    ASSERT(after == 6 && now() == begin + 3);
    int seven = wait(orYield(Future<int>(7)));
    ASSERT(seven == 7 && !orYield(Future<int>(Never())).isReady());
    return Void();
}

ACTOR Future<Void> others() {
    state Debouncer debouncer(1.0);
    state std::set<int> silent = { error_code_io_error };
    state int calls = 0;
    wait(triggerOnError([to = &calls]() { ++*to; }, failLater(1)));
    wait(triggerOnError([to = &calls]() { ++*to; }, delay(1)));
    int code = wait(codeOf(reportErrorsExcept(failLater(1), "Others", UID(1, 2), &silent)));
    ASSERT(calls == 1 && code == error_code_io_error);
    state Future<Void> fromBegin = recurringAsync([]() { return delay(1); }, 3, false, 0.5);
    state Future<Void> fromEnd = recurringAsync([to = &calls]() { return ++*to, delay(1); }, 3, true, 0.5);
    wait(delay(9)); // at 0.5, 4.5 and 8.5
    ASSERT(calls == 4 && !fromBegin.isReady());
    fromEnd.cancel();

    state Promise<int> copy;
    state PromiseStream<double> times;
    state int forwarded = wait(forward(later(8, 2), copy));
    wait(timeReply(later(8, 2), times));
    wait(traceAfter(delay(1), "Others", "Key", 5));
    double seconds = waitNext(times.getFuture());
    ASSERT(forwarded == 8 && copy.getFuture().get() == 8 && seconds == 2);
    Event event;
    forwardEvent(&event, Future<int>(1));
    event.block();

    state Reference<AsyncVar<int>> variable = makeReference<AsyncVar<int>>(1);
    state Reference<AsyncVar<int>> follower = makeReference<AsyncVar<int>>(0);
    state Future<Void> resetting = resetAfter(variable, 5.0, 1);
    state Future<Void> following = delayedAsyncVar(variable, follower, 2.0);
    variable->set(2);
    wait(delay(1.5));
    variable->set(3);
    ASSERT(follower->get() == 0);
    wait(delay(1));
    ASSERT(follower->get() == 3);
    variable->set(4);
    wait(delay(1.5));
    ASSERT(follower->get() == 3);
    wait(delay(4));
    ASSERT(variable->get() == 1);

    state Future<Void> settled = debouncer.onTrigger();
    debouncer.trigger();
    wait(delay(0.75));
    debouncer.trigger();
    wait(delay(0.75));
    ASSERT(!settled.isReady());
    wait(delay(0.5));
    ASSERT(settled.isReady());
    Reference<ReferencedObject<int>> object = ReferencedObject<int>::from(3);
    object->mutate() += 1;
    ASSERT(object->get() == 4);

    state PromiseStream<Future<Void>> actors;
    state int count = 0;
    state double last = now(), idle = 0, total = 0;
    state Future<Void> collected = actorCollection(actors.getFuture(), &count, &last, &idle, &total, true);
    wait(delay(2));
    actors.send(delay(1));
    actors.send(delay(3));
    wait(delay(2));
    ASSERT(count == 1 && !collected.isReady());
    wait(collected);
    ASSERT(count == 0 && idle == 2 && total == 5 && last == now());
    collected = actorCollection(actors.getFuture(), &count);
    actors.send(failLater(1));
    int failure = wait(codeOf(collected));
    ASSERT(failure == error_code_io_error);
    return Void();
}

int main() {
    flow::SimLoop simulation;
    Future<Void> f = stopAfter(test() && streams() && several() && others());
    g_network->run();
    f.get();
    return 0;
}
