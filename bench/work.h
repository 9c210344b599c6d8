#pragma once
// The rows of the table: what each benchmark does, in whatever style. One pass of a work is timed; what it costs is
// divided by its items.

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

struct Work {
    std::string_view name;
    Items items;
    std::vector<int> sizes; // the values of N; without any, there is no N in the benchmark's name
    bool needsVirtualTime = false;
    bool manyThreads = false; // then what counts is the time that passes, otherwise that of the loop's thread
};

/// All works, in the order in which they are shown.
std::span<const Work> works();

} // namespace bench
