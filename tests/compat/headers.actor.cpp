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
#include "flow/ScopeExit.h"
#include "flow/TypeTraits.h"
#include "flow/ThreadSafeQueue.h"
#include "flow/ParseNumber.h"
#include "flow/CompressedInt.h"
#include "flow/ContinuousSample.h"
#include "flow/crc32c.h"
#include "flow/genericactors.actor.g.h"
#include "flow/genericactors.actor.h"
#include "flow/genericactors.h"
#include "flow/IAsyncFile.h"
#include "flow/ProtocolVersion.h"
#include "flow/TLSConfig.actor.h"
#include "flow/flat_buffers.h"
#include "flow/memory/allocation_watch.h"
#include <sys/wait.h>
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

static_assert(std::is_same_v<variant_concat<std::variant<int>, std::variant<bool, char>>, std::variant<int, bool, char>>);
static_assert(std::is_same_v<variant_map<std::variant<int, bool>, std::add_pointer_t>, std::variant<int*, bool*>>);

/// What the call throws; 0 for nothing.
template <class F>
static int codeOf(F call) {
    try {
        call();
    } catch (Error& e) {
        return e.code();
    }
    return 0;
}

static void paths(std::string const& folder) {
    ASSERT_EQ(joinPath("a//", "/b"), "a/b");
    ASSERT_EQ(joinPath("", "b"), "/b");
    ASSERT_EQ(joinPath("/", "b"), "/b");
    ASSERT_EQ(popPath("/a/b//"), "/a/");
    ASSERT_EQ(popPath("/a"), "/");
    ASSERT_EQ(popPath("a"), "");
    ASSERT_EQ(popPath("a//b"), "a/");
    ASSERT_EQ(popPath("/a//..//"), "/a/");
    ASSERT_EQ(cleanPath("/a/./b//../c"), "/a/c");
    ASSERT_EQ(cleanPath("/../a"), "/a");
    ASSERT_EQ(cleanPath("../a/../../b"), "../../b");
    ASSERT_EQ(cleanPath("a/.."), ".");
    ASSERT_EQ(cleanPath("/"), "/");
    ASSERT_EQ(platform::getWorkingDirectory(), abspath("."));
    ASSERT_EQ(abspath("x/../y", false), joinPath(platform::getWorkingDirectory(), "y"));
    ASSERT_EQ(abspath("~/x/..", false), "~");
    std::filesystem::create_symlink("/", joinPath(folder, "link"));
    ASSERT_EQ(abspath(joinPath(folder, "link/none/../x")), "/x");
    ASSERT_EQ(parentDirectory(joinPath(folder, "a/b")), joinPath(folder, "a/"));
    ASSERT_EQ(basename(joinPath(folder, "name")), "name");
    ASSERT_EQ(codeOf([] { (void)abspath(""); }), error_code_platform_error);
    ASSERT_EQ(codeOf([&] { (void)abspath(folder + "/none", true, true); }), error_code_platform_error);
    ASSERT(deleteFile(joinPath(folder, "link")));
    ASSERT(directoryExists(getUserHomeDirectory()));
}

static void platformFiles(std::string const& folder) {
    std::string deep = joinPath(folder, "a/b/c"), file = joinPath(deep, "text.txt");
    ASSERT(platform::createDirectory(deep + "/") && !platform::createDirectory(deep));
    ASSERT(directoryExists(deep) && !directoryExists(file) && !fileExists(file) && fileSize(file) == 0);
    writeFile(file, "hello");
    ASSERT_EQ(codeOf([&] { platform::createDirectory(file); }), error_code_platform_error);
    ASSERT(fileExists(file) && fileSize(file) == 5);
    writeFileBytes(file, reinterpret_cast<uint8_t const*>(", you"), 5, true);
    ASSERT_EQ(readFileBytes(file, 10), "hello, you");
    uint8_t bytes[20];
    ASSERT_EQ(readFileBytes(file, bytes, 20), 10u);
    ASSERT_EQ(readFileBytes(file, bytes, 4), 4u);
    ASSERT_EQ(codeOf([&] { (void)readFileBytes(file, 9); }), error_code_file_too_large);
    ASSERT_EQ(codeOf([&] { (void)readFileBytes(deep + "/none", 9); }), error_code_file_not_readable);
    ASSERT_EQ(codeOf([&] { writeFile(deep + "/none/x", "x"); }), error_code_file_not_writable);
    std::filesystem::permissions(file, std::filesystem::perms::owner_read);
    atomicReplace(file, "new");
    ASSERT(readFileBytes(file, 10) == "new");
    ASSERT(std::filesystem::status(file).permissions() == std::filesystem::perms::owner_read);
    ASSERT_EQ(codeOf([&] { atomicReplace(deep + "/none/x", "x"); }), error_code_io_error);
    writeFile(joinPath(deep, "b.log"), "");
    ASSERT(readFileBytes(joinPath(deep, "b.log"), 0).empty());
    renameFile(joinPath(deep, "b.log"), joinPath(deep, "a.log"));
    ASSERT_EQ(codeOf([&] { renameFile(deep + "/none", deep + "/x"); }), error_code_io_error);
    ASSERT(platform::listFiles(deep) == (std::vector<std::string>{ "a.log", "text.txt" }));
    ASSERT(platform::listFiles(deep, ".txt") == std::vector<std::string>{ "text.txt" });
    ASSERT(platform::listFiles(folder).empty() && platform::listFiles(folder + "/none").empty());
    ASSERT(platform::listDirectories(folder) == (std::vector<std::string>{ ".", "..", "a" }));
    std::vector<std::string> found;
    platform::findFilesRecursively(folder, found);
    ASSERT(found.size() == 2 && found[1] == file);
    ASSERT(deleteFile(file) && !deleteFile(file));
    ASSERT_EQ(codeOf([&] { deleteFile(deep); }), error_code_platform_error);
    ASSERT_EQ(platform::eraseDirectoryRecursive(joinPath(folder, "a")), 4);
    ASSERT_EQ(platform::eraseDirectoryRecursive(joinPath(folder, "a")), 0);
}

static void platformSystem() {
    ASSERT(getMemoryUsage() >= getResidentMemoryUsage() && getResidentMemoryUsage() > 100000);
    MachineRAMInfo ram;
    getMachineRAMInfo(ram);
    ASSERT(ram.total > 0 && ram.total == ram.available + ram.committed);
    double thread = getProcessorTimeThread();
    uint64_t ticks = timestampCounter();
    while (getProcessorTimeThread() == thread) {
    }
    ASSERT(timestampCounter() > ticks && getProcessorTimeProcess() >= thread);
    threadYield();
    setMemoryQuota(0);
    ASSERT_EQ(platform::isSse42Supported(), platform::isHwCrcSupported());
    ASSERT(ctz(8) == 3 && clz(1) == 31 && ctzll(1ull << 40) == 40 && clzll(1) == 63);
    ASSERT(fromBigEndian32(bigEndian32(7)) == 7 && bigEndian16(0x102) == 0x201);
    ASSERT_EQ(removeWhitespace(" \ta b\r "), "a b");
    ASSERT_EQ(removeWhitespace(" "), "");
    int five = 5;
    makeDependent<char>(five) = 6;
    void* block = aligned_alloc(64, 64);
    aligned_free(block);
    ASSERT_EQ(five, 6);
    volatile int32_t small = 1;
    volatile int64_t large = 5;
    ASSERT(interlockedCompareExchange(&small, 7, 2) == 1 && small == 1);
    ASSERT(interlockedCompareExchange(&small, 7, 1) == 1 && small == 7);
    ASSERT(interlockedExchangeAdd64(&large, 2) == 5 && interlockedExchange64(&large, 8) == 7);
    ASSERT(interlockedOr64(&large, 1) == 8 && large == 9);
    int* volatile pointer = &five;
    ASSERT(interlockedExchangePtr(&pointer, static_cast<int*>(nullptr)) == &five && !pointer);
    ThreadUnsafeSpinLock lock;
    {
        ThreadUnsafeSpinLockHolder holder(lock);
    }
    lock.assertNotEntered();
}

/// The end of a process that calls it: its status, and what it says on standard error.
template <class F>
static std::pair<int, std::string> endOf(F call) {
    int ends[2];
    ASSERT(pipe(ends) == 0);
    fflush(nullptr);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 2);
        call();
        _exit(99);
    }
    close(ends[1]);
    char text[200] = {};
    ssize_t size = read(ends[0], text, sizeof text - 1);
    ASSERT(size >= 0);
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    return { WEXITSTATUS(status), text };
}

static void numbers() {
    ASSERT(parseNumber<int>("-45"_sr).get() == -45 && parseNumber<int>("0x1f"_sr, 0).get() == 31);
    ASSERT(parseNumber<double>("2.5e3"_sr).get() == 2500 && parseNumber<uint64_t>("-1"_sr).get() == UINT64_MAX);
    int end = 9;
    ASSERT(parseNumberPrefix<int>(" 12 KiB"_sr, 10, &end).get() == 12 && end == 3);
    ASSERT(!parseNumber<int>("12 "_sr).present() && !parseNumber<int8_t>("128"_sr).present());
    ASSERT(!parseNumber<int>(""_sr).present() && !parseNumber<int>("12"_sr, 1).present());
    ASSERT(!parseNumber<double>("1e999"_sr).present() && !parseNumber<uint8_t>("-1"_sr).present());

    std::string before;
    for (int64_t number : { INT64_MIN, int64_t(-8193), int64_t(-64), int64_t(-1), int64_t(0), int64_t(63), int64_t(64),
                            int64_t(1) << 48, (int64_t(1) << 55) - 1, int64_t(1) << 55, INT64_MAX }) {
        BinaryWriter writer(Unversioned());
        writer << CompressedInt<int64_t>(number);
        Standalone<StringRef> bytes = writer.toValue();
        auto same = BinaryReader::fromStringRef<CompressedInt<int64_t>>(bytes, Unversioned());
        ASSERT(same.value == number && bytes.toString() > before);
        before = bytes.toString();
    }
    auto encoded = [](auto number) {
        BinaryWriter writer(Unversioned());
        writer << number;
        return writer.toValue();
    };
    ASSERT(encoded(CompressedInt<int>(5)) == "\x85"_sr && encoded(CompressedInt<int>(64)) == "\xc0\x40"_sr);
    ASSERT(encoded(CompressedInt<int>(-1)) == "\x7f"_sr && encoded(CompressedInt<int>(INT_MAX)).size() == 5);
    std::string large = encoded(CompressedInt<int64_t>(INT64_MAX)).toString();
    for (std::string const& bytes : std::vector<std::string>{ "\xff\xff\xff", "\xc0", "", large })
        ASSERT(codeOf([&] { (void)BinaryReader::fromStringRef<CompressedInt<int>>(bytes, Unversioned()); }));

    uint8_t const digits[] = { '1', '2', '3', '4', '5', '6', '7', '8', '9' };
    ASSERT(crc32c_append(0, digits, 9) == 0xE3069283 && crc32c_append(crc32c_append(0, digits, 4), digits + 4, 5) == 0xE3069283);

    ContinuousSample<int> sample(100);
    ASSERT(sample.median() == 0 && sample.mean() == 0);
    for (int i = 1; i <= 100; ++i)
        sample.addSample(i);
    ASSERT(sample.percentile(0.99) == 99 && sample.median() == 50 && sample.mean() == 50.5 && sample.percentile(0) == 1);
    for (int i = 0; i < 1000; ++i)
        sample.addSample(1000);
    ASSERT(sample.max() == 1000 && sample.min() == 1 && sample.getPopulationSize() == 1100 && sample.median() == 1000);
    sample.clear();
    ASSERT(sample.getPopulationSize() == 0 && sample.max() == 0);
}

static void smallOnes() {
    int ends = 0;
    {
        ScopeExit end([&] { ++ends; });
    }
    ASSERT_EQ(ends, 1);
    ThreadSafeQueue<int> queue;
    ASSERT(queue.canSleep() && queue.push(1) && !queue.push(2) && !queue.canSleep());
    ASSERT(queue.pop().get() == 1 && queue.pop().get() == 2 && !queue.pop().present());
    Arena arena;
    ASSERT(concatenateStrings(arena, "a"_sr, ""_sr, "bc"_sr) == "abc"_sr && concatenateStrings("a"_sr, "b"_sr) == "ab"_sr);
    ASSERT(debugRandom() != deterministicRandom() && debugRandom()->random01() < 1);
    ASSERT(!EXPENSIVE_BUGGIFY && !CLIENT_BUGGIFY && !EXPENSIVE_VALIDATION && !CLIENT_BUGGIFY_WITH_PROB(1.0));
    ASSERT_EQ(fmt::format("{} {:>4} {} {}", "a\n"_sr, "b"_sr, UID(1, 2), Optional<int>()),
              "a\\x0a    b 00000000000000010000000000000002 [not set]");
    ASSERT_EQ(fmt::format("{} {}", timed_out(), Standalone<StringRef>("c"_sr)), "timed_out c");

    flow::TraceMemory trace;
    Error error;
    ASSERT(endOf([&] { error = internal_error_msg("oh"); }).second.ends_with(": oh\n"));
    ASSERT(endOf([] { criticalError(7, "Broken", "no way on"); }) == std::make_pair(7, std::string("ERROR: no way on\n")));
    g_traceBatch.addEvent("Read", 255, "Begin");
    g_traceBatch.addAttach("Read", 255, 1);
    ASSERT(trace.lines().size() == 2 && trace.lines()[0].ends_with(R"("ID":"00000000000000ff","Location":"Begin"})"));
    ASSERT(trace.lines()[1].ends_with(R"("To":"0000000000000001"})") && flushTraceFile().isReady());
    trace.setMinimum(SevSample);
    TraceEvent(SevVerbose, "Off");
    TraceEvent(SevMax, "On");
    ASSERT(trace.lines().size() == 3 && SevMax > SevMaxUsed);
}

struct Raw {
    int a;
    double b;
};
BINARY_SERIALIZABLE(Raw);
struct Boxed : ComposedIdentifier<int, 3> {};

static void serialized() {
    BinaryWriter writer(Unversioned());
    writer << Raw{ 3, 0.5 } << std::string("text");
    Standalone<StringRef> bytes = writer.toValue();
    ArenaReader reader(bytes.arena(), bytes, Unversioned());
    Raw raw{};
    StringRef text;
    reader >> raw >> text;
    ASSERT(raw.a == 3 && raw.b == 0.5 && text == "text"_sr && reader.empty());
    Standalone<StringRef> object = ObjectWriter::toValue(EnsureTable<int>(7), Unversioned());
    ASSERT(ObjectReader::fromStringRef<EnsureTable<int>>(object, Unversioned()).asUnderlyingType() == 7);
    ASSERT(Boxed::file_identifier == (3u << 24 | FileIdentifierFor<int>::value));
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
    ASSERT(timer_int() > before && timer() > 0 && timer_monotonic() >= 0);
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
    paths(folder);
    platformFiles(folder);
    platformSystem();
    numbers();
    smallOnes();
    serialized();
    std::filesystem::remove(folder);
    return 0;
}
