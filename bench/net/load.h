#pragma once
// What asks echo servers 64 bytes at a time. In a closed loop each connection asks again when an answer comes, and has
// so many questions (the depth) without one; an open loop asks so many times a second, whether answers come or not. It
// runs in a thread of its own.
//
//     LoadResult result = ask(port, 50, 0.3);         // returns when all connections are closed again
//     LoadResult open = askAtRate(port, 50, 0.3, 20'000);

#include <array>
#include <bit>
#include <cstdint>

namespace bench {

/// Counts times with a precision of 3 %: 32 steps for each doubling.
class Histogram {
public:
    void add(std::uint64_t nanoseconds) {
        ++counts_[stepOf(nanoseconds)];
        ++total_;
    }
    /// The longest of the shortest `share` of all times; 0 if there are none.
    double percentile(double share) const;

private:
    static constexpr unsigned kSteps = 32;
    static unsigned stepOf(std::uint64_t value) {
        if (value < kSteps)
            return static_cast<unsigned>(value);
        auto shift = static_cast<unsigned>(std::bit_width(value)) - 6;
        return (shift + 1) * kSteps + static_cast<unsigned>(value >> shift) - kSteps;
    }
    static double endOf(unsigned step);

    std::array<std::uint64_t, 61 * kSteps> counts_{};
    std::uint64_t total_ = 0;
};

struct LoadResult {
    double requestsPerSecond = 0;
    double p50 = 0, p99 = 0;       // nanoseconds
    std::uint64_t allRequests = 0; // those before the time is taken as well
    double processors = 0;         // that the load itself has used: its processor time by the time that has passed
};

/// `depth`: at most 64. Throws flow::Error.
LoadResult ask(std::uint16_t port, int connections, double seconds, int depth = 1);
/// The connections take turns. A time begins when the question is due, not when it is sent: a server that stalls does
/// not hide it by asking less. Throws flow::Error, timed_out if the server is behind by more than the kernel's buffers.
LoadResult askAtRate(std::uint16_t port, int connections, double seconds, double rate);

} // namespace bench
