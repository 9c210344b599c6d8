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

// Types without a member `serialize`.
struct Color {
    uint8_t red, green;
};
template <>
struct scalar_traits<Color> : std::true_type {
    constexpr static size_t size = 2;
    template <class Context>
    static void save(uint8_t* out, Color const& from, Context&) {
        out[0] = from.red;
        out[1] = from.green;
    }
    template <class Context>
    static void load(uint8_t const* in, Color& to, Context&) {
        to = Color{in[0], in[1]};
    }
};
struct Text {
    StringRef text;
};
template <>
struct dynamic_size_traits<Text> : std::true_type {
    template <class Context>
    static size_t size(Text const& from, Context&) {
        return from.text.size();
    }
    template <class Context>
    static void save(uint8_t* out, Text const& from, Context&) {
        from.text.copyTo(out);
    }
    template <class Context>
    static void load(uint8_t const* in, size_t size, Text& to, Context& context) {
        to.text = StringRef(context.tryReadZeroCopy(in, size), size);
    }
};
struct Colors {
    std::list<Color> all;
};
template <>
struct vector_like_traits<Colors> : std::true_type {
    using value_type = Color;
    template <class Context>
    static size_t num_entries(Colors const& from, Context&) {
        return from.all.size();
    }
    template <class Context>
    static auto begin(Colors const& from, Context&) {
        return from.all.begin();
    }
    template <class Context>
    static void reserve(Colors& to, size_t, Context&) {
        to.all.clear();
    }
    template <class Context>
    static auto insert(Colors& to, Context&) {
        return std::back_inserter(to.all);
    }
};
struct Either {
    int which = -1;
    Color color;
    std::string text;
};
template <>
struct union_like_traits<Either> : std::true_type {
    using alternatives = pack<Color, std::string>;
    template <class Context>
    static uint8_t index(Either const& from, Context&) {
        return static_cast<uint8_t>(from.which);
    }
    template <class Context>
    static bool empty(Either const& from, Context&) {
        return from.which < 0;
    }
    template <int i, class Context>
    static index_t<i, alternatives> const& get(Either const& from, Context&) {
        if constexpr (i == 0)
            return from.color;
        else
            return from.text;
    }
    template <size_t i, class Item, class Context>
    static void assign(Either& to, Item const& item, Context&) {
        to.which = i;
        if constexpr (i == 0)
            to.color = item;
        else
            to.text = item;
    }
};
struct Mixed {
    constexpr static FileIdentifier file_identifier = 4712;
    Color color;
    Text text;
    Colors colors;
    Either first, second, third;
    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, color, text, colors, first, second, third);
    }
};

static Mixed mixed() {
    Mixed made;
    made.color = Color{1, 2};
    made.text.text = "abc"_sr;
    made.colors.all = {Color{3, 4}, Color{5, 6}};
    made.first.which = 0;
    made.first.color = Color{7, 8};
    made.second.which = 1;
    made.second.text = "long";
    return made;
}
static void check(Mixed const& read) {
    ASSERT(read.color.green == 2 && read.text.text == "abc"_sr && read.colors.all.size() == 2);
    ASSERT(read.colors.all.back().green == 6 && read.first.which == 0 && read.first.color.red == 7);
    ASSERT(read.second.which == 1 && read.second.text == "long" && read.third.which == -1);
}
static void traits() {
    Standalone<StringRef> bytes = ObjectWriter::toValue(mixed(), IncludeVersion());
    Arena arena;
    Mixed read;
    {
        Standalone<StringRef> copy(bytes.toString());
        ArenaObjectReader reader(arena, copy, IncludeVersion());
        reader.deserialize(read);
    }
    check(read); // what it refers to is in the arena
    ObjectReader trusting(bytes.begin(), IncludeVersion());
    Mixed again;
    trusting.deserialize(again);
    check(again);
    Standalone<StringRef> plain = BinaryWriter::toValue(mixed(), Unversioned());
    BinaryReader binary(plain, Unversioned());
    Mixed third;
    binary >> third;
    check(third);
    for (int length = 0; length < plain.size(); ++length) {
        try {
            BinaryReader cut(plain.substr(0, length), Unversioned());
            cut >> third;
            ASSERT(false);
        } catch (Error& e) {
            ASSERT(e.code() == error_code_serialization_failed);
        }
    }
    Standalone<StringRef> wrong("\x09"_sr);
    try {
        Either either;
        BinaryReader(wrong, Unversioned()) >> either;
        ASSERT(false);
    } catch (Error& e) {
        ASSERT(e.code() == error_code_serialization_failed);
    }
}

ACTOR Future<Void> followBytes() {
    state Reference<AsyncVar<Standalone<StringRef>>> input = makeReference<AsyncVar<Standalone<StringRef>>>();
    state Reference<AsyncVar<Optional<int>>> output = makeReference<AsyncVar<Optional<int>>>();
    state Future<Void> following = asyncDeserialize(input, output);
    ASSERT(!output->get().present());
    input->set(ObjectWriter::toValue(5, IncludeVersion()));
    ASSERT(output->get().get() == 5);
    input->set("not these"_sr);
    ErrorOr<Void> end = wait(errorOr(following));
    ASSERT(end.isError());

    state std::vector<Promise<int>> out(2);
    wait(forwardVector(Future<std::vector<int>>(std::vector<int>{4, 5}), out));
    ASSERT(out[1].getFuture().get() == 5);
    return Void();
}

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
    ASSERT(ErrorOr<Node*>(&node).mapRef(&Node::plus, 1).get() == 8);
    ASSERT(ErrorOr<Node*>(io_error()).mapRef(&Node::value).isError(error_code_io_error));
    ASSERT(parse_with_suffix("4KiB").get() == 4096 && parse_with_suffix("2MB").get() == 2000000);
    ASSERT(parse_with_suffix("3", "B").get() == 3 && parse_with_suffix("3B").get() == 3);
    for (const char* text : {"", "KB", "1", "1K", "1XB", "1KIB", "-1B", "99999999999999999999B"})
        ASSERT(!parse_with_suffix(text).present());
    void* block = allocateFast(40);
    memset(block, 1, 40);
    freeFast(40, block);
    StringRef text = "a=1;b"_sr;
    uint8_t separator = 0;
    ASSERT(text.eat("=") == "a"_sr && text.eatAny("=;", &separator) == "1"_sr && separator == ';');

    ASSERT(printable(Optional<StringRef>()) == "[not set]" && printable(Optional<Standalone<StringRef>>("a\x01"_sr)) == "a\\x01");
    VectorRef<StringRef> two;
    Arena arena;
    two.push_back(arena, "a"_sr);
    two.push_back(arena, "b"_sr);
    ASSERT(printable(two) == "a b " && commonPrefixLength("abc"_sr, "abd"_sr) == 2);

    ServerKnobs knobs(true);
    ASSERT(knobs.BATCH == 1000 && knobs.setKnob("batch", "50") && knobs.BATCH == 50);
    ASSERT(knobs.setKnob("RATE", "0.25") && knobs.setKnob("fast", "false") && knobs.setKnob("name", "x"));
    ASSERT(knobs.setKnob("batch", "0x10") && knobs.BATCH == 16 && knobs.setKnob("fast", "TRUE") && knobs.FAST);
    ASSERT(knobs.setKnob("fast", "2") && knobs.FAST && knobs.setKnob("fast", "False"));
    ASSERT(knobs.RATE == 0.25 && !knobs.FAST && knobs.NAME == "x" && !knobs.setKnob("other", "1"));
    try {
        knobs.setKnob("bytes", "many");
        ASSERT(false);
    } catch (Error& e) {
        ASSERT(e.code() == error_code_invalid_option_value && knobs.BYTES == 1 << 20);
    }
    ASSERT(FLOW_KNOBS->MAX_BUGGIFIED_DELAY == 0 && !BUGGIFY && !BUGGIFY_WITH_PROB(1.0));
    TEST(knobs.BATCH == 50); // a probe
    Compressed compressed = Compressed::True;
    ASSERT(compressed && !Compressed::False);
    compressed.set(false);
    ASSERT(!compressed && bigEndian16(bigEndian16(0x0102)) == 0x0102 && littleEndian64(littleEndian64(3)) == 3);
    uint32_t number = bigEndian32(0x01020304);
    ASSERT(memcmp(&number, "\1\2\3\4", 4) == 0);
    number = littleEndian32(0x01020304);
    ASSERT(memcmp(&number, "\4\3\2\1", 4) == 0);
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

    ASSERT(formatIpPort(IPAddress::parse("::1").get(), 80) == "[::1]:80");
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
    traits();
    g_network = newNet2(TLSConfig());
    g_network->addStopCallback([] { printf("stopped\n"); });
    Future<Void> done = stopAfter(network() && followBytes());
    g_network->run();
    done.get();
    return 0;
}
