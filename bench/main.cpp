// The benchmarks of flow: the same work in each style, beside each other in one process.
//
//     millrace_bench [--loop=sim|real] [--passes=N] [--growth] [options of Google Benchmark]
//
// --passes=N makes exactly N passes of each; --growth takes only those that have it, with N from 1 to a million.
// tools/bench builds and runs it and prints the table.

#include "bench/run.h"
#include "bench/work.h"
#include "flow/base/parse_number.h"
#include "flow/base/random.h"
#include "flow/core/future.h"
#include "flow/inspect/detail/profile_request.h"
#include "flow/loop/real_loop.h"
#include "flow/sim/sim_loop.h"
#include "flow/wait/delay.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

thread_local std::uint64_t systemAllocations = 0;

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

/// What memory the process has; 0 where there is no /proc.
std::int64_t residentBytes() {
    long pages = 0;
    if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
        if (std::fscanf(file, "%*d %ld", &pages) != 1)
            pages = 0;
        std::fclose(file);
    }
    return static_cast<std::int64_t>(pages) * ::sysconf(_SC_PAGESIZE);
}

/// A work in one style. `perform` returns the bytes of a computation, 0 if that is unknown.
struct Entry {
    const char* style;
    std::string_view work;
    std::function<std::size_t(Run*, Items)> perform;
    int mostItems;
};

/// In the order in which the parts of the program were linked.
std::vector<Entry>& entries() {
    static std::vector<Entry> all;
    return all;
}

std::size_t drive(Driver const& driver, Run* run, Items items) {
    auto loop = makeLoop();
    run->setLoop(*loop);
    flow::DeterministicRandom random(7);
    std::vector<flow::Future<flow::Void>> others;
    for (int i = 1; items == Items::NWaiting && i < run->size(); ++i)
        others.push_back(flow::delay(laterSeconds(random), static_cast<flow::TaskPriority>(random.randomInt(0, 100))));
    flow::Future<flow::Void> driven = driver.drive(run);
    loop->run(driven);
    return driver.itemBytes ? driver.itemBytes() : bytes(driven);
}

void measure(benchmark::State& state, Work const& work, Entry const& entry, int size) {
    // A million blocks that another one has freed, in any order, would be this one's memory, or its work to sort.
    flow::memory::trim();
    Run run(state, size);
    std::size_t frameBytes = entry.perform(&run, work.items);
    double items = work.items == Items::N ? size : 1;
    using benchmark::Counter;
    state.counters["ns_per_item"] = Counter(items * 1e-9, Counter::kIsIterationInvariantRate | Counter::kInvert);
    double allItems = static_cast<double>(state.iterations()) * items;
    state.counters["allocs_per_item"] = static_cast<double>(run.allocations()) / allItems;
    if (run.steps())
        state.counters["steps_per_item"] = static_cast<double>(*run.steps()) / allItems;
    if (frameBytes != 0)
        state.counters["frame_bytes"] = static_cast<double>(frameBytes);
    if (run.itemBytes() != 0) {
        state.counters["global_allocs_per_item"] = static_cast<double>(run.allocations()) / allItems;
        state.counters["bytes_per_item"] = static_cast<double>(run.itemBytes());
    }
    if (run.residentBytes() != 0)
        state.counters["resident_per_item"] = static_cast<double>(run.residentBytes()) / items;
    state.counters["items_per_op"] = items;
    if (run.work() != 0) {
        auto work = static_cast<double>(run.work());
        state.counters["work_per_op"] = work;
        state.counters["ns_per_work"] = Counter(work * 1e-9, Counter::kIsIterationInvariantRate | Counter::kInvert);
    }
}

bool growth = false;
int passes = 0; // of each benchmark; 0: as many as Google Benchmark finds enough

/// Takes an option of ours out of its text; false if it has a value that cannot be.
bool takeOption(std::string_view text) {
    if (text == "--loop=sim" || text == "--loop=real") {
        loopKind = text == "--loop=sim" ? LoopKind::Sim : LoopKind::Real;
        return true;
    }
    if (text == "--growth")
        return growth = true;
    if (text.starts_with("--passes=")) {
        passes = flow::parseNumber<int>(text.substr(std::strlen("--passes="))).value_or(0);
        return passes > 0;
    }
    return false;
}

/// Takes our options out of the arguments; false, with a message, if one is wrong.
bool takeOptions(int& argc, char** argv) {
    int kept = 0;
    for (int i = 0; i < argc; ++i) {
        std::string_view text = argv[i];
        if (!text.starts_with("--loop=") && !text.starts_with("--passes=") && text != "--growth") {
            argv[kept++] = argv[i];
        } else if (!takeOption(text)) {
            std::fprintf(stderr, "%s: write --loop=sim or --loop=real, or --passes=N with N > 0\n", argv[i]);
            return false;
        }
    }
    argc = kept;
    return true;
}

void registerWork(Work const& work, Entry const& entry) {
    std::vector<int> sizes = growth ? growthSizes() : work.sizes;
    bool isSized = !sizes.empty();
    if (!isSized)
        sizes = {1};
    for (int size : sizes) {
        if (size > entry.mostItems)
            continue;
        std::string name(work.name);
        if (isSized)
            name.append("/").append(std::to_string(size));
        name.append("/").append(entry.style);
        auto* registered = benchmark::RegisterBenchmark(
            name.c_str(), [&work, &entry, size](benchmark::State& state) { measure(state, work, entry, size); });
        if (work.has(kThreads))
            registered->UseRealTime();
        if (passes > 0)
            registered->Iterations(passes);
    }
}

bool isAskedFor(Work const& work) {
    if (growth ? !work.has(kGrows | kOnlyGrows) : work.has(kOnlyGrows))
        return false;
    return loopKind == LoopKind::Sim || !work.has(kVirtualTime);
}

/// False, with a message, if a style has a work that is none.
bool registerAll() {
    static std::vector<Work> all(works().begin(), works().end());
    for (Entry const& entry : entries())
        if (std::string_view(entry.style) == kLibrary) {
            all.push_back({entry.work, Items::One, {}});
        } else if (std::ranges::none_of(works(), [&](Work const& work) { return work.name == entry.work; })) {
            std::fprintf(stderr, "%s: there is no work '%s' in bench/work.cpp\n", entry.style,
                         std::string(entry.work).c_str());
            return false;
        }
    for (Work const& work : all)
        for (Entry const& entry : entries())
            if (entry.work == work.name && isAskedFor(work))
                registerWork(work, entry);
    return true;
}

} // namespace

bool Run::isWarmUp() {
    if (!std::exchange(warm_, true)) {
        residentAtStart_ = bench::residentBytes();
        return true;
    }
    started_ = true;
    allocations_ = countAllocations();
    steps_ = loop_ ? loop_->stepsRun() : 0;
    return false;
}

void Run::stop() {
    allocations_ = countAllocations() - allocations_;
    steps_ = loop_ ? loop_->stepsRun() - steps_ : 0;
}

double laterSeconds(flow::DeterministicRandom& random) {
    double soonest = loopKind == LoopKind::Sim ? 1 : 100; // real time must not come so far
    return soonest + random.random01();
}

void Run::allWait() {
    residentBytes_ = bench::residentBytes() - residentAtStart_;
}

Style::Style(const char* name, std::initializer_list<Driver> drivers) {
    for (Driver const& driver : drivers)
        entries().push_back({name, driver.work, [driver](Run* run, Items items) { return drive(driver, run, items); },
                             driver.mostItems});
}

PeerStyle::PeerStyle(const char* name, std::initializer_list<Peer> peers) {
    for (Peer const& peer : peers)
        entries().push_back({name, peer.work,
                             [peer](Run* run, Items) {
                                 peer.perform(run);
                                 return std::size_t{0};
                             },
                             std::numeric_limits<int>::max()});
}

} // namespace bench

int main(int argc, char** argv) {
    if (!bench::takeOptions(argc, argv))
        return 2;
    benchmark::AddCustomContext("compiler", MILLRACE_COMPILER);
    benchmark::AddCustomContext("flags", MILLRACE_COMPILE_FLAGS);
    benchmark::AddCustomContext("loop", bench::loopKind == bench::LoopKind::Sim ? "sim" : "real");
    if (!bench::registerAll())
        return 1;
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv))
        return 2;
    flow::setThreadLocalDeterministicRandomSeed(1); // the same numbers in each run, on real loops too
    flow::sampleIfAsked();                          // tools/bench profile; a simulated loop does not ask
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
}
