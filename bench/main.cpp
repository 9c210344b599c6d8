// The benchmarks of flow: the same work in each style, beside each other in one process.
//
//     millrace_bench [--loop=sim|real] [options of Google Benchmark]
//
// tools/bench builds and runs it and prints the table.

#include "bench/run.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>

namespace {

std::uint64_t systemAllocations = 0;

} // namespace

// Counted, so that "allocations per operation" leaves nothing out.
void* operator new(std::size_t bytes) {
    ++systemAllocations;
    if (void* block = std::malloc(bytes))
        return block;
    throw std::bad_alloc();
}
void operator delete(void* block) noexcept {
    std::free(block);
}
void operator delete(void* block, std::size_t) noexcept {
    std::free(block);
}

namespace bench {
namespace {

constexpr int kSizes[] = {1, 8, 64, 512, 4096, 32768, 65536};

enum class LoopKind { Sim, Real };
LoopKind loopKind = LoopKind::Sim;

std::unique_ptr<flow::Loop> makeLoop() {
    if (loopKind == LoopKind::Real)
        return std::make_unique<flow::RealLoop>();
    return std::make_unique<flow::SimLoop>();
}

std::uint64_t countAllocations() {
    return systemAllocations + flow::memory::totalStatistics().allocated;
}

std::size_t blockBytes(flow::Future<flow::Void> const& future) {
    return flow::memory::blockBytes(future.cell()->sizeClass);
}

/// What one benchmark measures.
struct Work {
    const char* name;
    flow::Future<flow::Void> (*Drivers::*driver)(Run* const&);
    bool itemsAreActors;   // a pass is N items, not one
    bool othersAreWaiting; // N - 1 timers are outstanding
    std::size_t (*frameBytes)(Drivers const&, flow::Future<flow::Void> const& driver);
};

std::size_t driverBytes(Drivers const&, flow::Future<flow::Void> const& driver) {
    return blockBytes(driver);
}
std::size_t incrementBytes(Drivers const& drivers, flow::Future<flow::Void> const&) {
    std::uint32_t sum = 0;
    return blockBytes(drivers.increment(flow::TaskPriority::Default, &sum));
}
std::size_t followBytes(Drivers const& drivers, flow::Future<flow::Void> const&) {
    std::uint32_t sum = 0;
    flow::Promise<flow::Void> signal;
    return blockBytes(drivers.follow(signal.getFuture(), &sum));
}

constexpr Work kWork[] = {
    {"DELAY", &Drivers::delay, false, true, driverBytes},
    {"YIELD", &Drivers::yield, false, true, driverBytes},
    {"NET2", &Drivers::net2, true, false, incrementBytes},
    {"callback", &Drivers::callback, true, false, followBytes},
};

void measure(benchmark::State& state, Work const& work, Drivers const& drivers, int size) {
    auto loop = makeLoop();
    flow::DeterministicRandom random(7);
    std::vector<flow::Future<flow::Void>> others;
    for (int i = 1; work.othersAreWaiting && i < size; ++i)
        others.push_back(
            flow::delay(1.0 + random.random01(), static_cast<flow::TaskPriority>(random.randomInt(0, 100))));
    Run run(state, size);
    Run* handle = &run;
    flow::Future<flow::Void> driver = (drivers.*work.driver)(handle);
    loop->run(driver);

    double items = work.itemsAreActors ? size : 1;
    using benchmark::Counter;
    state.counters["ns_per_item"] = Counter(items * 1e-9, Counter::kIsIterationInvariantRate | Counter::kInvert);
    state.counters["allocs_per_item"] =
        static_cast<double>(run.allocations()) / (static_cast<double>(state.iterations()) * items);
    state.counters["frame_bytes"] = static_cast<double>(work.frameBytes(drivers, driver));
    state.counters["items_per_op"] = items;
}

/// Takes `--loop=...` out of the arguments; false if it is not one of ours.
bool takeLoop(int& argc, char** argv) {
    int kept = 0;
    for (int i = 0; i < argc; ++i) {
        if (std::strncmp(argv[i], "--loop=", 7) != 0) {
            argv[kept++] = argv[i];
            continue;
        }
        if (std::strcmp(argv[i] + 7, "real") == 0) {
            loopKind = LoopKind::Real;
        } else if (std::strcmp(argv[i] + 7, "sim") != 0) {
            std::fprintf(stderr, "%s: the loop is sim or real\n", argv[i]);
            return false;
        }
    }
    argc = kept;
    return true;
}

struct NamedStyle {
    std::string name;
    Drivers drivers;
};

std::vector<NamedStyle>& styles() {
    static std::vector<NamedStyle> all;
    return all;
}

void registerAll() {
    for (Work const& work : kWork)
        for (int size : kSizes)
            for (NamedStyle const& style : styles()) {
                std::string name = std::string(work.name) + "/" + std::to_string(size) + "/" + style.name;
                benchmark::RegisterBenchmark(name.c_str(), [&work, &style, size](benchmark::State& state) {
                    measure(state, work, style.drivers, size);
                });
            }
}

} // namespace

void Run::start() {
    started_ = true;
    allocations_ = countAllocations();
}

void Run::stop() {
    allocations_ = countAllocations() - allocations_;
}

Style::Style(const char* name, Drivers const& drivers) {
    styles().push_back({name, drivers});
}

} // namespace bench

int main(int argc, char** argv) {
    if (!bench::takeLoop(argc, argv))
        return 2;
    benchmark::AddCustomContext("compiler", MILLRACE_COMPILER);
    benchmark::AddCustomContext("flags", MILLRACE_COMPILE_FLAGS);
    benchmark::AddCustomContext("loop", bench::loopKind == bench::LoopKind::Sim ? "sim" : "real");
    bench::registerAll();
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv))
        return 2;
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
}
