#pragma once
// What every benchmark of flow has in common: a driver is an actor, in whatever style, that runs on the loop for the
// whole benchmark; its passes are the n of the benchmark (flow/testing/benchmark.h).
//
//     Future<Void> driveNet2(Run* run) {
//         while (run->next()) ... co_await waitForAll(...);
//     }
//
//     const Style style("coroutine", {{"DELAY", driveDelay}, {"NET2", driveNet2, [] { return bytes(increment(...));
//     }}});

#include "flow/base/random.h"
#include "flow/core/future.h"
#include "flow/loop/loop.h"
#include "flow/memory/detail/padded_block.h"
#include "flow/memory/fast_allocator.h"
#include "flow/testing/benchmark.h"

#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <string_view>

namespace bench {

/// One benchmark under way.
class Run {
public:
    Run(int size, std::int64_t passes) : size_(size), left_(passes) {}

    /// N of the benchmark.
    int size() const { return size_; }

    /// Whether there is another pass. The first one warms up; time and all else count from the second call to the one
    /// that says no.
    bool next() {
        if (!started_ && isWarmUp()) [[unlikely]]
            return true;
        if (left_ > 0) [[likely]] {
            --left_;
            return true;
        }
        flow::Benchmark::stop();
        return false;
    }

    /// Fails the benchmark if a pass did not do its work.
    void expect(bool done) {
        if (!done) [[unlikely]]
            fail();
    }

    /// All computations of a pass wait: what they hold is what memory this process got since its first pass began.
    void allWait();

    /// A pass is so many pieces of work.
    void setWork(std::uint64_t items) { work_ = items; }
    /// What one item takes from a memory resource: then all allocations of the passes are said to be outside of it.
    void setItemBytes(std::size_t bytes) { itemBytes_ = bytes; }
    std::size_t itemBytes() const { return itemBytes_; }

    /// Found by allWait(); 0 without.
    std::int64_t residentBytes() const { return residentBytes_; }
    /// 0: not set.
    std::uint64_t work() const { return work_; }

private:
    bool isWarmUp();
    static void fail(); // not inlined: a string would take room in the frame of a driver

    int size_;
    std::int64_t left_;
    bool warm_ = false;
    bool started_ = false;
    std::int64_t residentAtStart_ = 0;
    std::int64_t residentBytes_ = 0;
    std::uint64_t work_ = 0;
    std::size_t itemBytes_ = 0;
};

/// A work (by its name in work.cpp) in one style.
struct Driver {
    std::string_view work;
    std::function<flow::Future<flow::Void>(Run*)> drive;
    /// The block of one of the computations that the driver makes, 0 if there is none to be shown; without it, the
    /// driver's own is.
    std::function<std::size_t()> itemBytes = {};
    /// It is not measured with a larger N.
    int mostItems = std::numeric_limits<int>::max();
};

/// When a timer is due that is set but shall not fire, because it stays for a whole benchmark or is dropped: seconds
/// from now. All are alike, so that each new one comes to stand somewhere among the others.
double laterSeconds(flow::DeterministicRandom& random);

/// What a computation that waits takes in the allocator.
template <class T>
std::size_t bytes(flow::Future<T> const& future) {
    auto* cell = future.cell();
    bool isPadded = cell->sizeClass == flow::memory::kPaddedClass;
    auto const* padding = isPadded ? flow::memory::PaddedBlock::of(cell->valueAddress()) : nullptr;
    return flow::memory::blockBytes(padding ? padding->sizeClass : cell->sizeClass);
}

/// A work in a style that does not run on a loop of ours: it makes what it runs on, and returns when run->next() has
/// said no.
struct Peer {
    std::string_view work;
    std::function<void(Run*)> perform;
};

/// The style of what exists once: each of its works is one use of the piece that names it, and needs no line in
/// work.cpp.
inline constexpr const char* kLibrary = "library";

/// Adds works to a style; made while the program starts.
struct Style {
    Style(const char* name, std::initializer_list<Driver> drivers);
};
struct PeerStyle {
    PeerStyle(const char* name, std::initializer_list<Peer> peers);
};

/// Adds a benchmark that measures for itself what it adds with flow::Benchmark::addFigure(). Returns true.
bool addOnce(std::string name, std::function<void()> measure);

/// The style of an actor source that is compiled for each of actorc's back ends, and as `actorc migrate` writes it.
constexpr const char* styleOf(std::string_view backend) {
    if (backend == "migrated")
        return "migrated";
    return backend == "state_machine" ? "actor" : "actorc-coroutine";
}

/// The priorities of a pass: the same in each pass and style.
class Priorities {
public:
    flow::TaskPriority next() { return static_cast<flow::TaskPriority>(random_.randomInt(0, 100)); }

private:
    flow::DeterministicRandom random_{20};
};

/// A local that counts its destructions.
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
