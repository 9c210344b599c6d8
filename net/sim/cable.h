#pragma once
// Cable: the way of messages from one simulated machine to another, in one direction.

#include "flow/base/random.h"

#include <cstdint>
#include <limits>

namespace flow::net {

/// What messages from one machine to another find.
struct LinkShape {
    double latency = 0.0003;   // seconds that each takes at least
    double jitter = 0.0006;    // seconds more, at most: half of them take less than an eighth of that
    double bandwidth = 1.25e8; // bytes a second
};

inline constexpr double kUntilHealed = std::numeric_limits<double>::infinity();

struct Cable {
    Cable(std::uint32_t f, std::uint32_t t, LinkShape const& s, std::uint64_t seed)
        : from(f), to(t), shape(s), random(seed ^ id()) {}

    std::uint32_t from, to; // ids of processes
    LinkShape shape;
    DeterministicRandom random; // of how long each message takes: other cables have theirs
    double freeAt = 0;          // when all that was sent is on its way
    double cutUntil = 0;        // nothing arrives: connections go on afterwards, datagrams are lost
    double clogUntil = 0;       // nothing arrives before

    std::uint64_t id() const { return std::uint64_t{from} << 32 | to; }
};

} // namespace flow::net
