#pragma once
// Cable: the link from one simulated machine to another, in one direction.

#include "flow/base/random.h"

#include <cstdint>
#include <limits>

namespace flow::net {

struct LinkShape {
    double latency = 0.0003;   // minimum latency in seconds
    double jitter = 0.0006;    // the most added random latency; half of the messages get less than an eighth of it
    double bandwidth = 1.25e8; // bytes a second
};

inline constexpr double kUntilHealed = std::numeric_limits<double>::infinity();

struct Cable {
    Cable(std::uint32_t f, std::uint32_t t, LinkShape const& s, std::uint64_t seed)
        : from(f), to(t), shape(s), random(seed ^ id()) {}

    std::uint32_t from, to; // ids of processes
    LinkShape shape;
    DeterministicRandom random; // for the latencies; each cable has its own
    double freeAt = 0;          // the time at which all sent bytes have left
    double cutUntil = 0;        // nothing arrives before this time: datagrams are lost, connections continue later
    double clogUntil = 0;       // nothing arrives before this time, but nothing is lost

    std::uint64_t id() const { return std::uint64_t{from} << 32 | to; }
};

} // namespace flow::net
