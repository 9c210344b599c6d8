#pragma once
// DeterministicRandom: the same seed gives the same numbers on every machine and compiler.
//
//     DeterministicRandom random(42);
//     int die = random.randomInt(1, 7);
//
// The generator is xoshiro256** by Blackman and Vigna (https://prng.di.unimi.it), seeded through splitmix64. It is
// for simulation and tests, not for secrets. Not thread-safe: one per loop.

#include "flow/base/assert.h"

#include <bit>
#include <cstdint>

namespace flow {

class DeterministicRandom {
public:
    explicit DeterministicRandom(std::uint64_t seed) {
        for (std::uint64_t& word : state_) {
            seed += 0x9E3779B97F4A7C15u;
            std::uint64_t z = seed;
            z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
            z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
            word = z ^ (z >> 31);
        }
    }

    std::uint64_t randomUInt64() {
        std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
        std::uint64_t shifted = state_[1] << 17;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= shifted;
        state_[3] = std::rotl(state_[3], 45);
        return result;
    }

    /// Uniform in [begin, end); begin < end. (Multiply and shift, after Lemire; the bias is below 2^-32.)
    int randomInt(int begin, int end) {
        FLOW_ASSERT(begin < end, "randomInt needs begin < end");
        auto range = static_cast<std::uint64_t>(static_cast<std::int64_t>(end) - begin);
        return static_cast<int>(begin + static_cast<std::int64_t>(((randomUInt64() >> 32) * range) >> 32));
    }

    /// Uniform in [0, 1).
    double random01() { return static_cast<double>(randomUInt64() >> 11) * 0x1.0p-53; }

private:
    std::uint64_t state_[4];
};

} // namespace flow
