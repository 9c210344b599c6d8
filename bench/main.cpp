// The benchmarks of flow: the same work in each style, beside each other in one process.
//
//     millrace_bench [--growth] [options of flow/testing/detail/bench_options.h]
//
// --growth takes only the works that have it, with N from 1 to a million. tools/bench builds and runs it and prints the
// table.

#include "bench/run.h"
#include "bench/work.h"
#include "flow/base/random.h"
#include "flow/core/future.h"
#include "flow/coro/coroutine.h"
#include "flow/testing/detail/bench_runner.h"
#include "flow/wait/delay.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

namespace bench {
namespace {

using flow::Benchmark;

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

/// A work in one style: a Driver, or a Peer if `perform` is set.
struct Entry {
    const char* style;
    std::string_view work;
    Driver driver;
    std::function<void(Run*)> perform = {};
};

/// In the order in which the parts of the program were linked.
std::vector<Entry>& entries() {
    static std::vector<Entry> all;
    return all;
}

/// `frameBytes` is the memory of a computation, 0 if that is unknown.
void addFigures(Run const& run, Items items, std::size_t frameBytes) {
    double each = items == Items::N ? run.size() : 1;
    Benchmark::setItems(each);
    if (frameBytes != 0)
        Benchmark::addFigure("frame_bytes", static_cast<double>(frameBytes));
    if (run.itemBytes() != 0)
        Benchmark::addFigure("bytes_per_item", static_cast<double>(run.itemBytes()));
    if (run.residentBytes() != 0)
        Benchmark::addFigure("resident_per_item", static_cast<double>(run.residentBytes()) / each);
    if (run.work() != 0)
        Benchmark::addFigure("work_per_op", static_cast<double>(run.work()));
}

flow::Future<flow::Void> drive(Driver const* driver, Items items, int size, std::int64_t passes) {
    Run run(size, passes);
    flow::DeterministicRandom random(7);
    std::vector<flow::Future<flow::Void>> others;
    for (int i = 1; items == Items::NWaiting && i < size; ++i) {
        double seconds = laterSeconds(random);
        others.push_back(flow::delay(seconds, static_cast<flow::TaskPriority>(random.randomInt(0, 100))));
    }
    flow::Future<flow::Void> driven = driver->drive(&run);
    co_await driven;
    addFigures(run, items, driver->itemBytes ? driver->itemBytes() : bytes(driven));
}

flow::Future<flow::Void> perform(Entry const& entry, Items items, int size, std::int64_t passes) {
    if (!entry.perform)
        return drive(&entry.driver, items, size, passes);
    Run run(size, passes);
    entry.perform(&run);
    addFigures(run, items, 0);
    return flow::Void();
}

bool growth = false;
bool hasVirtualTime = true;

void registerWork(Work const& work, Entry const& entry) {
    std::vector<int> sizes = growth ? growthSizes() : work.sizes;
    bool isSized = !sizes.empty();
    if (!isSized)
        sizes = {1};
    for (int size : sizes) {
        if (size > entry.driver.mostItems)
            continue;
        std::string name(work.name);
        if (isSized)
            name.append("/").append(std::to_string(size));
        name.append("/").append(entry.style);
        Benchmark::add({.name = name,
                        .body = [&entry, items = work.items,
                                 size](std::int64_t passes) { return perform(entry, items, size, passes); },
                        .hasThreads = work.has(kThreads),
                        .hasOwnLoop = static_cast<bool>(entry.perform)});
    }
}

bool isAskedFor(Work const& work) {
    if (growth ? !work.has(kGrows | kOnlyGrows) : work.has(kOnlyGrows))
        return false;
    return hasVirtualTime || !work.has(kVirtualTime);
}

/// False, with a message, if a style has a work that is none.
bool registerAll() {
    static std::vector<Work> all(works().begin(), works().end());
    for (Entry const& entry : entries())
        if (std::string_view(entry.style) == kLibrary)
            all.push_back({entry.work, Items::One, {}});
    for (Entry const& entry : entries())
        if (std::ranges::none_of(all, [&](Work const& work) { return work.name == entry.work; })) {
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
    Benchmark::start();
    return false;
}

void Run::fail() {
    Benchmark::fail("the work was not done");
}

double laterSeconds(flow::DeterministicRandom& random) {
    double soonest = flow::benchOnRealLoop() ? 100 : 1; // real time must not come so far
    return soonest + random.random01();
}

void Run::allWait() {
    residentBytes_ = bench::residentBytes() - residentAtStart_;
}

Style::Style(const char* name, std::initializer_list<Driver> drivers) {
    for (Driver const& driver : drivers)
        entries().push_back({name, driver.work, driver});
}

PeerStyle::PeerStyle(const char* name, std::initializer_list<Peer> peers) {
    for (Peer const& peer : peers)
        entries().push_back({name, peer.work, {}, peer.perform});
}

bool addOnce(std::string name, std::function<void()> measure) {
    return Benchmark::add({.name = std::move(name),
                           .body =
                               [measure = std::move(measure)](std::int64_t) {
                                   measure();
                                   return flow::Future<flow::Void>(flow::Void());
                               },
                           .hasThreads = true,
                           .hasOwnLoop = true,
                           .isOnce = true});
}

} // namespace bench

int main(int argc, char** argv) {
    std::vector<char*> words(argv, argv + argc);
    bench::growth = std::erase_if(words, [](std::string_view word) { return word == "--growth"; }) > 0;
    for (std::size_t i = 1; i < words.size(); ++i) {
        std::string_view word = words[i];
        if (word == "--loop=real" || (word == "real" && std::string_view(words[i - 1]) == "--loop"))
            bench::hasVirtualTime = false;
    }
    if (!bench::registerAll())
        return 1;
    return flow::benchMain(static_cast<int>(words.size()), words.data(),
                           {{"compiler", MILLRACE_COMPILER}, {"flags", MILLRACE_COMPILE_FLAGS}});
}
