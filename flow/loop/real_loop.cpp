#include "flow/loop/real_loop.h"

#include <cerrno>
#include <cmath>
#include <ctime>

namespace flow {

RealLoop::RealLoop() {
    now_ = RealLoop::timer();
}

double RealLoop::timer() {
    timespec time;
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double RealLoop::startTurn() {
    return timer();
}

void RealLoop::idleUntil(double deadline) {
    constexpr double kLongest = 1e9; // keeps the conversion below defined for delays without end
    double whole = std::floor(deadline < kLongest ? deadline : kLongest);
    double fraction = deadline < kLongest ? deadline - whole : 0;
    timespec until{static_cast<std::time_t>(whole), static_cast<long>(std::ceil(fraction * 1e9))};
    if (until.tv_nsec >= 1'000'000'000) {
        ++until.tv_sec;
        until.tv_nsec -= 1'000'000'000;
    }
    while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
    }
}

bool RealLoop::sliceIsOver() {
    resetSlice();
    return timer() - now_ >= kSliceSeconds;
}

} // namespace flow
