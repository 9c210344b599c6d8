#include "flow/loop/real_loop.h"

#include <ctime>
#include <limits>

namespace flow {

RealLoop::RealLoop() {
    now_ = RealLoop::timer();
    timerSteps_ = kTimerStepsPerTurn;
}

double RealLoop::timer() {
    timespec time;
    ::clock_gettime(CLOCK_MONOTONIC, &time); // nondeterminism: of all loops only this one has the machine's time
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double RealLoop::startTurn() noexcept {
    return timer();
}

bool RealLoop::idleUntil(double deadline) {
    if (deadline == std::numeric_limits<double>::infinity() && !isGuarded())
        return false;
    double seconds = deadline - timer();
    if (seconds > 0)
        sleep(seconds);
    return true;
}

bool RealLoop::sliceIsOver() {
    resetSlice();
    return timer() - now_ >= kSliceSeconds;
}

} // namespace flow
