#pragma once
// What the parts of messages_bench share: the job, its counters, and how two threads wait for each other.

#include "net/transport.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace bench {

using Clock = std::chrono::steady_clock;

inline double seconds(Clock::time_point since) {
    return std::chrono::duration<double>(Clock::now() - since).count();
}

// actorc: allow A0702 a job outlives its loops
struct Job {
    std::string library, pattern;
    std::size_t bytes = 0;
    std::uint64_t count = 0;
    flow::net::ReadStrategy strategy = flow::net::ReadStrategy::Adaptive;
    int peers = 1;
    bool isRoundTrips() const { return pattern == "round-trips"; }
};

/// Of the part that is measured.
class Measured {
public:
    void start();
    void stop();
    void print(std::uint64_t items);
    std::vector<double> trips; // seconds

private:
    std::uint64_t allocations_ = 0, receives_ = 0, empty_ = 0;
    double processor_ = 0, took_ = 0;
    Clock::time_point since_;
};

extern Measured measured;

/// One thread waits until the other has reached a step.
// actorc: allow A0702 it outlives its threads
struct Meeting {
    std::string endpoint;
    std::atomic<int> step{0};
    void reach(int what) {
        step = what;
        step.notify_all();
    }
    void await(int what) {
        for (int now = step; now < what; now = step)
            step.wait(now);
    }
};

void runMillrace(Job const& job);
void runZmq(Job const& job);

} // namespace bench
