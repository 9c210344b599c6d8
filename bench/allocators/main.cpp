// FastAllocator beside the system's malloc, and beside mimalloc and tcmalloc where their libraries are installed.
//
//     allocator_bench [options of Google Benchmark]
//
// tools/bench allocators builds and runs it and prints the table. A program of its own, and the libraries are opened
// while it runs: linked in the usual way each would be malloc for the whole program. All get the size of what is
// freed, if they can use it.

#include "flow/memory/fast_allocator.h"

#include "flow/base/random.h"

#include <atomic>
#include <benchmark/benchmark.h>
#include <cstdlib>
#include <dlfcn.h>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

struct FastAllocator {
    static void* allocate(std::size_t bytes) { return flow::memory::allocate(bytes); }
    static void release(void* block, std::size_t bytes) {
        flow::memory::release(block, flow::memory::sizeClassOf(bytes));
    }
};

struct System {
    static void* allocate(std::size_t bytes) { return std::malloc(bytes); }
    static void release(void* block, std::size_t) { std::free(block); }
};

/// Functions of a library that was opened; `Name` makes it a type of its own.
template <int Name>
struct Library {
    static inline void* (*take)(std::size_t) = nullptr;
    static inline void (*giveBack)(void*, std::size_t) = nullptr;

    static bool open(const char* file, const char* takeName, const char* giveBackName) {
        void* library = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
        if (!library)
            return false;
        take = reinterpret_cast<void* (*)(std::size_t)>(::dlsym(library, takeName));
        giveBack = reinterpret_cast<void (*)(void*, std::size_t)>(::dlsym(library, giveBackName));
        return take && giveBack;
    }
    static void* allocate(std::size_t bytes) { return take(bytes); }
    static void release(void* block, std::size_t bytes) { giveBack(block, bytes); }
};
using MiMalloc = Library<0>;
using TcMalloc = Library<1>;

/// Allocates a block and writes to it, as a caller does.
template <class A>
void* use(std::size_t bytes) {
    void* block = A::allocate(bytes);
    *static_cast<void**>(block) = block;
    benchmark::DoNotOptimize(block);
    return block;
}

void countItems(benchmark::State& state, std::size_t itemsOfPass) {
    using benchmark::Counter;
    state.counters["ns_per_item"] =
        Counter(static_cast<double>(itemsOfPass) * 1e-9, Counter::kIsIterationInvariantRate | Counter::kInvert);
}

// An item of each is one block taken and given back.

constexpr std::size_t kActor = 96;

/// One block at a time.
template <class A, std::size_t Bytes>
void pair(benchmark::State& state) {
    for (auto _ : state)
        A::release(use<A>(Bytes), Bytes);
    countItems(state, 1);
}

/// `count` blocks, given back in the order in which they were taken, or the other way round.
template <class A, bool NewestFirst>
void burst(benchmark::State& state, std::size_t count) {
    std::vector<void*> blocks(count);
    for (auto _ : state) {
        for (void*& block : blocks)
            block = use<A>(kActor);
        for (std::size_t i = 0; i < count; ++i)
            A::release(blocks[NewestFirst ? count - 1 - i : i], kActor);
    }
    countItems(state, count);
}

/// A thousand live blocks of sizes that actors have; one after another, at random, is replaced by one of another size.
template <class A>
void mixed(benchmark::State& state) {
    constexpr std::size_t kSizes[] = {32, 48, 64, 80, 96, 96, 96, 112, 112, 128, 144, 160, 176, 224, 256, 400};
    constexpr std::size_t kLive = 1024, kSteps = 8192;
    struct Step {
        std::uint16_t place, bytes;
    };
    flow::DeterministicRandom random(1);
    std::vector<Step> steps(kSteps);
    for (Step& step : steps)
        step = {static_cast<std::uint16_t>(random.randomInt(0, kLive)),
                static_cast<std::uint16_t>(kSizes[random.randomInt(0, std::size(kSizes))])};
    struct Slot {
        void* block;
        std::size_t bytes;
    };
    std::vector<Slot> live(kLive);
    for (Slot& slot : live)
        slot = {use<A>(kActor), kActor};
    for (auto _ : state)
        for (Step step : steps) {
            Slot& slot = live[step.place];
            A::release(slot.block, slot.bytes);
            slot = {use<A>(step.bytes), step.bytes};
        }
    for (Slot& slot : live)
        A::release(slot.block, slot.bytes);
    countItems(state, kSteps);
}

/// One thread takes, another gives back, 256 blocks at a time. What counts is the time that passes.
template <class A>
void crossThread(benchmark::State& state) {
    constexpr std::size_t kBatch = 256, kBatches = 8;
    struct Ring {
        void* blocks[kBatches][kBatch];
        std::atomic<std::uint64_t> full{0}, empty{0}; // batches so far
        std::atomic<bool> ended{false};
    };
    auto ring = std::make_unique<Ring>();
    std::thread consumer([&] {
        for (std::uint64_t next = 0;;) {
            if (next == ring->full.load(std::memory_order_acquire)) {
                if (ring->ended.load(std::memory_order_acquire) && next == ring->full.load(std::memory_order_acquire))
                    return;
                std::this_thread::yield();
                continue;
            }
            for (void* block : ring->blocks[next % kBatches])
                A::release(block, kActor);
            ring->empty.store(++next, std::memory_order_release);
        }
    });
    std::uint64_t sent = 0;
    for (auto _ : state) {
        while (sent - ring->empty.load(std::memory_order_acquire) == kBatches)
            std::this_thread::yield();
        for (void*& block : ring->blocks[sent % kBatches])
            block = use<A>(kActor);
        ring->full.store(++sent, std::memory_order_release);
    }
    ring->ended.store(true, std::memory_order_release);
    consumer.join();
    countItems(state, kBatch);
}

template <class Work>
auto* add(std::string const& row, const char* allocator, Work work) {
    return benchmark::RegisterBenchmark((row + "/" + allocator).c_str(), work);
}

template <class A>
void addAll(const char* name) {
    add("pair/32", name, pair<A, 32>);
    add("pair/96", name, pair<A, 96>);
    add("pair/512", name, pair<A, 512>);
    add("pair/3000", name, pair<A, 3000>);
    for (std::size_t count : {64u, 4096u, 65536u})
        add("newest_first/" + std::to_string(count), name, [count](auto& state) { burst<A, true>(state, count); });
    for (std::size_t count : {64u, 4096u, 65536u})
        add("oldest_first/" + std::to_string(count), name, [count](auto& state) { burst<A, false>(state, count); });
    add("mixed", name, mixed<A>);
    add("cross_thread", name, crossThread<A>)->UseRealTime();
}

} // namespace

int main(int argc, char** argv) {
    benchmark::AddCustomContext("compiler", MILLRACE_COMPILER);
    benchmark::AddCustomContext("flags", MILLRACE_COMPILE_FLAGS);
    addAll<FastAllocator>("FastAllocator");
    addAll<System>("malloc");
    if (MiMalloc::open("libmimalloc.so.2", "mi_malloc", "mi_free_size"))
        addAll<MiMalloc>("mimalloc");
    if (TcMalloc::open("libtcmalloc_minimal.so.4", "tc_malloc", "tc_free_sized"))
        addAll<TcMalloc>("tcmalloc");
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv))
        return 2;
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
}
