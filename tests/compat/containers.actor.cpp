// Containers, strings, knobs, BUGGIFY, TEST, threads, and the rest of INetwork.
#include "flow/BooleanParam.h"
#include "flow/Deque.h"
#include "flow/Hostname.h"
#include "flow/IndexedSet.actor.h"
#include "flow/Knobs.h"
#include "flow/NetworkAddress.h"
#include "flow/flow.h"
#include "flow/actorcompiler.h" // This must be the last #include.

FLOW_BOOLEAN_PARAM(Compressed);

struct ServerKnobs : Knobs {
    int BATCH;
    int64_t BYTES;
    double RATE;
    bool FAST;
    std::string NAME;
    explicit ServerKnobs(bool randomize) {
        initKnob(BATCH, 1000, "BATCH");
        initKnob(BYTES, 1 << 20, "BYTES");
        initKnob(RATE, 0.5, "RATE");
        initKnob(FAST, true, "FAST");
        initKnob(NAME, "none", "NAME");
        if (randomize && BUGGIFY)
            BATCH = 1;
    }
};

struct Node {
    int value = 7;
    int plus(int more) const { return value + more; }
    Optional<int> ifAbove(int least) const { return value > least ? Optional<int>(value) : Optional<int>(); }
};

static void containers() {
    Deque<int> deque{1, 2};
    deque.push_back(3);
    deque.pop_front();
    ASSERT(deque.front() == 2 && deque.back() == 3 && deque.size() == 2 && deque.capacity() >= 2);

    IndexedSet<std::string, int64_t> set;
    set.insert(std::string("b"), 20);
    set.insert(std::string("a"), 10);
    ASSERT(set.sumTo(set.end()) == 30 && *set.index(15) == "b");

    Map<Standalone<StringRef>, int> map;
    map["two"_sr] = 2;
    map.insert(mapPair(Standalone<StringRef>("one"_sr), 1));
    map.insert(mapPair(Standalone<StringRef>("one"_sr), 11), false);
    int sum = 0;
    for (auto i = map.begin(); i != map.end(); ++i)
        sum += i->value;
    ASSERT(sum == 3 && map.begin()->key == "one"_sr && map.find("two"_sr)->value == 2);
    ASSERT(map.lower_bound("p"_sr)->key == "two"_sr && map.lastLessOrEqual("a"_sr) == map.end());
    map.erase("one"_sr);
    ASSERT(map.count("one"_sr) == 0 && !map.empty());

    Map<int, int, MapPair<int, int>, int> counted;
    counted[3] = counted[4] = 1;
    ASSERT(counted.size() == 2 && counted.sumRange(0, 4) == 1);

    Arena arena;
    SmallVectorRef<int, 4> small;
    small.push_back(arena, 5);
    ASSERT(small.back() == 5 && arena.getSize() > 0);
    printf("containers\n");
}

static void values() {
    Node node;
    Optional<Node*> pointer(&node);
    ASSERT(pointer.mapRef(&Node::value).get() == 7 && pointer.mapRef(&Node::plus, 1).get() == 8);
    ASSERT(pointer.flatMapRef(&Node::ifAbove, 6).get() == 7 && !pointer.flatMapRef(&Node::ifAbove, 7).present());
    ASSERT(Optional<Node>(node).map(&Node::value).get() == 7);
    ASSERT(ErrorOr<Node>(node).map(&Node::value).get() == 7);
    StringRef text = "a=1;b"_sr;
    uint8_t separator = 0;
    ASSERT(text.eat("=") == "a"_sr && text.eatAny("=;", &separator) == "1"_sr && separator == ';');

    ServerKnobs knobs(true);
    ASSERT(knobs.BATCH == 1000 && knobs.setKnob("batch", "50") && knobs.BATCH == 50);
    ASSERT(knobs.setKnob("RATE", "0.25") && knobs.setKnob("fast", "false") && knobs.setKnob("name", "x"));
    ASSERT(knobs.RATE == 0.25 && !knobs.FAST && knobs.NAME == "x" && !knobs.setKnob("other", "1"));
    try {
        knobs.setKnob("bytes", "many");
        ASSERT(false);
    } catch (Error& e) {
        ASSERT(e.code() == error_code_operation_failed && knobs.BYTES == 1 << 20);
    }
    ASSERT(FLOW_KNOBS->MAX_BUGGIFIED_DELAY == 0 && !BUGGIFY && !BUGGIFY_WITH_PROB(1.0));
    TEST(knobs.BATCH == 50); // a probe
    Compressed compressed = Compressed::True;
    ASSERT(compressed && !Compressed::False);
    printf("values\n");
}

static int shared = 0;
THREAD_FUNC work(void* argument) {
    shared = *static_cast<int*>(argument);
    THREAD_RETURN;
}

ACTOR Future<Void> network() {
    ASSERT(g_network->checkRunnable() && !g_network->checkRunnable());
    g_network->setCurrentTask(TaskPriority::DiskRead);
    ASSERT(g_network->getCurrentTask() == TaskPriority::DiskRead);
    wait(delay(0.001, TaskPriority::Low));
    ASSERT(g_network->getCurrentTask() == TaskPriority::Low);
    int argument = 5;
    waitThread(g_network->startThread(work, &argument, 1 << 16, "a name that is too long for Linux"));
    ASSERT(shared == 5);
    int64_t free = 0, total = 0;
    g_network->getDiskBytes("/", free, total);
    ASSERT(total > 0 && free <= total);
    try {
        g_network->getDiskBytes("/there/is/no/such/folder", free, total);
        ASSERT(false);
    } catch (Error& e) {
        ASSERT(e.code() == error_code_platform_error);
    }
    ASSERT(g_network->isAddressOnThisHost(NetworkAddress::parse("127.0.0.1:80")));
    ASSERT(!g_network->isAddressOnThisHost(NetworkAddress::parse("192.0.2.1:80")));
    ASSERT(g_network->protocolVersion() == currentProtocolVersion());
    TLSConfig const& config = g_network->getTLSConfig();
    ASSERT(&config == &g_network->getTLSConfig());
    g_network->initMetrics();
    g_network->initTLS();

    ASSERT(Hostname::isHostname("host-1.example.org:80:tls") && !Hostname::isHostname("10.0.0.1:80"));
    ASSERT(!Hostname::isHostname("host") && !Hostname::isHostname("a b:80") && !Hostname::isHostname("host:x"));
    ASSERT(Hostname::parse("host:80:tls").toString() == "host:80:tls" && Hostname::parse("host:80").service == "80");
    state Optional<NetworkAddress> found = wait(Hostname("127.0.0.1", "81", true).resolve());
    ASSERT(found.get().toString() == "127.0.0.1:81:tls");
    NetworkAddress same = wait(Hostname("127.0.0.1", "81", true).resolveWithRetry());
    ASSERT(same == found.get());
    printf("network\n");
    return Void();
}

int main() {
    containers();
    values();
    g_network = newNet2(TLSConfig());
    g_network->addStopCallback([] { printf("stopped\n"); });
    Future<Void> done = stopAfter(network());
    g_network->run();
    done.get();
    return 0;
}
