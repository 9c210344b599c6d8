#pragma once
// seedFor(): derives several seeds from one seed, so that the random numbers for different uses are independent.
//
//     DeterministicRandom network(seedFor(seed, "network")), disk(seedFor(seed, "disk"));

#include <cstdint>
#include <string_view>

namespace flow {

/// Returns the seed for `use`, the same on every machine. For one `use`, different seeds always give different results.
constexpr std::uint64_t seedFor(std::uint64_t seed, std::string_view use) {
    for (char c : use)
        seed = (seed ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
    return seed;
}

} // namespace flow
