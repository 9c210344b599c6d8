#pragma once
// DeterministicRandom: the same seed gives the same numbers on every machine and compiler.
//
//     DeterministicRandom random(42);
//     int die = random.randomInt(1, 7);
//
//     setThreadLocalDeterministicRandomSeed(42);         // the generator that actors share
//     if (deterministicRandom()->coinflip()) ...
//
// The generator is xoshiro256** by Blackman and Vigna (https://prng.di.unimi.it), seeded through splitmix64. It is for
// simulation and tests, not for secrets. It is not thread-safe: each thread needs its own.

#include "flow/base/assert.h"
#include "flow/base/uid.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <string>

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

    /// Returns a number in [begin, end), each equally likely; begin < end. (Lemire's method; the bias is below 2^-32.)
    int randomInt(int begin, int end, detail::Caller caller = detail::Caller::current()) {
        FLOW_ASSERT_AT(caller, begin < end, "randomInt needs begin < end");
        auto range = static_cast<std::uint64_t>(static_cast<std::int64_t>(end) - begin);
        return static_cast<int>(begin + static_cast<std::int64_t>(((randomUInt64() >> 32) * range) >> 32));
    }

    /// Like randomInt(), for 64 bits. The bias is below range / 2^64.
    std::int64_t randomInt64(std::int64_t begin, std::int64_t end, detail::Caller caller = detail::Caller::current()) {
        FLOW_ASSERT_AT(caller, begin < end, "randomInt64 needs begin < end");
        auto range = static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(begin);
        __extension__ using Wide = unsigned __int128; // without __extension__, -Wpedantic would warn: not ISO C++
        auto offset = static_cast<std::uint64_t>(static_cast<Wide>(randomUInt64()) * range >> 64);
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(begin) + offset);
    }
    std::uint32_t randomUInt32() { return static_cast<std::uint32_t>(randomUInt64() >> 32); }
    /// Returns a number in [begin, end), begin >= 1. All bit widths that lie fully in the range are equally likely.
    std::uint32_t randomSkewedUInt32(std::uint32_t begin, std::uint32_t end);

    /// Returns a number in [0, 1), each equally likely.
    double random01() { return static_cast<double>(randomUInt64() >> 11) * 0x1.0p-53; }
    bool coinflip() { return randomUInt64() >> 63; }
    /// Returns a random UID, which is never UID().
    UID randomUniqueID() {
        std::uint64_t first = randomUInt64();
        return {first, randomUInt64() | 1};
    }

    /// Returns a random element; the container must not be empty.
    template <class Container>
    decltype(auto) randomChoice(Container const& choices) {
        return *std::next(std::begin(choices), randomInt64(0, static_cast<std::int64_t>(std::size(choices))));
    }
    /// Puts the elements into a random order, each order equally likely. The container needs random access.
    template <class Container>
    void randomShuffle(Container& elements) {
        auto first = std::begin(elements);
        for (auto left = static_cast<std::int64_t>(std::size(elements)); left > 1; --left)
            std::iter_swap(first + (left - 1), first + randomInt64(0, left));
    }
    char randomAlphaNumeric();
    std::string randomAlphaNumeric(int length);
    void randomBytes(void* out, std::size_t count);

    /// Returns the result of the next randomUInt64() and changes nothing, to compare the states of two generators.
    std::uint64_t peek() const { return DeterministicRandom(*this).randomUInt64(); }

private:
    std::uint64_t state_[4];
};
/// Flow's name of the generator. In Flow IRandom is an interface; here it is DeterministicRandom.
using IRandom = DeterministicRandom;

/// Returns this thread's generator, for numbers that must be the same in each run. Its seed is 1 until another seed is
/// set. A RealLoop seeds it from the machine's entropy if the thread has neither used nor seeded it before, so that
/// programs on several machines do not all wait for the same random times.
DeterministicRandom* deterministicRandom();
void setThreadLocalDeterministicRandomSeed(std::uint64_t seed);
void seedUnusedDeterministicRandom();
/// Makes `random` the generator of this thread, until the next call of this function. Returns the previous generator.
DeterministicRandom* replaceDeterministicRandom(DeterministicRandom* random);
/// Returns a generator of this thread that starts from the machine's entropy, for numbers that must not repeat.
DeterministicRandom* nondeterministicRandom();

} // namespace flow
