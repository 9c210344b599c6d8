#pragma once
// The rows of the table: what each benchmark does, in every style. One pass of a work is timed; the time is divided by
// the number of its items.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace bench {

enum class Items : std::uint8_t {
    One,     // a pass is one item, whatever N is
    N,       // a pass is N items
    NWaiting // a pass is one item, while N - 1 timers are outstanding
};

/// The other properties of a work.
enum Trait : std::uint8_t {
    kVirtualTime = 1, // it needs the simulated loop
    kThreads = 2,     // what counts is the time that passes, not only that of the loop's thread
    kGrows = 4,       // --growth takes it, with its own values of N
    kOnlyGrows = 8    // only --growth takes it
};

struct Work {
    std::string_view name;
    Items items;
    std::vector<int> sizes; // the values of N; without any, there is no N in the benchmark's name
    std::uint8_t traits = 0;

    bool has(std::uint8_t trait) const { return (traits & trait) != 0; }
};

/// The values of N of --growth: powers of two.
std::vector<int> growthSizes();

/// The works that have styles, in the order in which they are shown. What the library has follows: see kLibrary.
std::span<const Work> works();

} // namespace bench
