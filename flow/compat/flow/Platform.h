#pragma once
// Clocks and the processor, under the old header name.
//
//     double begin = timer();      // seconds: the loop's clock, or the machine's where there is no loop
//
// g_network (network.h) decides what time it is where there is a loop.

#include "../../flow.h"

#include <chrono>
#include <cstdint>
#include <thread>

#define force_inline inline __attribute__((__always_inline__))

/// Nothing has to be prepared here: for programs that begin with it.
inline void platformInit() {}

inline double timer_monotonic() {
    // nondeterminism: it asks for the machine's clock by name
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
inline double timer() {
    return flow::hasLoop() ? flow::timer() : timer_monotonic();
}
/// Nanoseconds.
inline std::uint64_t timer_int() {
    return static_cast<std::uint64_t>(timer() * 1e9);
}
/// Blocks the thread, and with it the loop. Under a simulation, too: its time stands still meanwhile.
inline void threadSleep(double seconds) {
    // nondeterminism: nothing sees how long it was but the machine's clock
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}
