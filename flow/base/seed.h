#pragma once
// seedFor(): for one use of a seed a seed of its own, so that what is drawn for that use and what is drawn for others
// have nothing to do with each other.
//
//     DeterministicRandom network(seedFor(seed, "network")), disk(seedFor(seed, "disk"));

#include <cstdint>
#include <string_view>

namespace flow {

/// The same on every machine. Two seeds never give the same for one use.
constexpr std::uint64_t seedFor(std::uint64_t seed, std::string_view use) {
    for (char c : use)
        seed = (seed ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
    return seed;
}

} // namespace flow
