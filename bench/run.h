#pragma once
// What every benchmark of flow has in common: a driver is an actor, in whatever style, that runs on the loop for the
// whole benchmark; its passes are the benchmark's iterations.
//
//     Future<Void> driveNet2(Run* run) {
//         while (run->next()) ... co_await waitForAll(...);
//     }
//
//     const Style style("coroutine", {{"DELAY", driveDelay}, {"NET2", driveNet2, [] { return bytes(increment(...));
//     }}});

#include "flow/flow.h"

#include <benchmark/benchmark.h>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string_view>
#include <vector>

namespace bench {

/// One benchmark under way.
class Run {
public:
    Run(benchmark::State& state, int size) : size_(size), state_(state) {}

    /// N of the benchmark.
    int size() const { return size_; }

    /// Whether there is another pass. Time and allocations count from the first call to the one that says no.
    bool next() {
        if (!started_) [[unlikely]]
            start();
        if (state_.KeepRunning()) [[likely]]
            return true;
        stop();
        return false;
    }

    /// Fails the benchmark if a pass did not do its work.
    void expect(bool done) {
        if (!done) [[unlikely]]
            state_.SkipWithError("the work was not done");
    }

    /// All computations of a pass wait: what they hold is what memory this process got since its first pass began.
    void allWait();

    /// Blocks and system allocations between start and end.
    std::uint64_t allocations() const { return allocations_; }
    /// Found by allWait(); 0 without.
    std::int64_t residentBytes() const { return residentBytes_; }

private:
    void start();
    void stop();

    int size_;
    bool started_ = false;
    std::uint64_t allocations_ = 0;
    std::int64_t residentAtStart_ = 0;
    std::int64_t residentBytes_ = 0;
    benchmark::State& state_;
};

/// A work (by its name in work.cpp) in one style.
struct Driver {
    std::string_view work;
    std::function<flow::Future<flow::Void>(Run*)> drive;
    /// The size of one of the computations that the driver makes; without it, the driver's own is shown.
    std::function<std::size_t()> itemBytes = {};
};

/// What a computation that waits takes in the allocator.
template <class T>
std::size_t bytes(flow::Future<T> const& future) {
    return flow::memory::blockBytes(future.cell()->sizeClass);
}

/// A work in a style that does not run on a loop of ours: it makes what it runs on, and returns when run->next() has
/// said no.
struct Peer {
    std::string_view work;
    std::function<void(Run*)> perform;
};

/// Adds works to a style; made while the program starts.
struct Style {
    Style(const char* name, std::initializer_list<Driver> drivers);
};
struct PeerStyle {
    PeerStyle(const char* name, std::initializer_list<Peer> peers);
};

/// The style of an actor source that is compiled for each of actorc's back ends.
constexpr const char* styleOf(std::string_view backend) {
    return backend == "state_machine" ? "actor" : "actorc-coroutine";
}

/// The priorities of a pass: the same in each pass and style.
class Priorities {
public:
    flow::TaskPriority next() { return static_cast<flow::TaskPriority>(random_.randomInt(0, 100)); }

private:
    flow::DeterministicRandom random_{20};
};

/// A local whose end is counted.
struct Counted {
    explicit Counted(std::uint32_t* ends) : ends(ends) {}
    Counted(Counted const&) = delete;
    Counted& operator=(Counted const&) = delete;
    ~Counted() { ++*ends; }
    std::uint32_t* ends;
};

} // namespace bench

#define MILLRACE_TEXT(name) #name
#define MILLRACE_NAME(name) MILLRACE_TEXT(name)
