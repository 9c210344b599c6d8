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

int main() {
    flow::SimLoop simulation;
    Future<Void> f = stopAfter(test());
    g_network->run();
    f.get();
    return 0;
}
