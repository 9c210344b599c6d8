#pragma once
// What every benchmark has in common: a driver is an actor, in whatever style, that runs on the loop for the whole
// benchmark; its passes are the benchmark's iterations.
//
//     Future<Void> driveDelay(Run* run) {
//         while (run->next())
//             co_await delay(0);
//     }
//
//     static Style style("coroutine", {.delay = driveDelay, ...});

#include "flow/flow.h"

#include <benchmark/benchmark.h>
#include <cstdint>
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

    /// Blocks and system allocations between start and end.
    std::uint64_t allocations() const { return allocations_; }

private:
    void start();
    void stop();

    int size_;
    bool started_ = false;
    std::uint64_t allocations_ = 0;
    benchmark::State& state_;
};

/// The same work in one style.
struct Drivers {
    flow::Future<flow::Void> (*delay)(Run* const&);
    flow::Future<flow::Void> (*yield)(Run* const&);
    flow::Future<flow::Void> (*net2)(Run* const&);
    flow::Future<flow::Void> (*callback)(Run* const&);
    // One of the computations of which NET2 and callback make N, to look at its size.
    flow::Future<flow::Void> (*increment)(flow::TaskPriority const&, std::uint32_t* const&);
    flow::Future<flow::Void> (*follow)(flow::Future<flow::Void> const&, std::uint32_t* const&);
};

/// Adds a style; called while the program starts.
struct Style {
    Style(const char* name, Drivers const& drivers);
};

/// The priorities of a pass: the same in each pass and style.
class Priorities {
public:
    flow::TaskPriority next() { return static_cast<flow::TaskPriority>(random_.randomInt(0, 100)); }

private:
    flow::DeterministicRandom random_{20};
};

} // namespace bench
