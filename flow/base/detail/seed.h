#pragma once
// seedFor(): derives a seed for one use of a seed, so that the numbers drawn for different uses are independent.
//
//     DeterministicRandom network(seedFor(seed, "network")), disk(seedFor(seed, "disk"));

#include <cstdint>
#include <string_view>

namespace flow {

/// Returns the seed for `use`. It is equal on every machine. Two seeds always give two different results.
constexpr std::uint64_t seedFor(std::uint64_t seed, std::string_view use) {
    for (char c : use)
        seed = (seed ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
    return seed;
}

} // namespace flow
