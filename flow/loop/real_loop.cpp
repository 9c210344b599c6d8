#include "flow/loop/real_loop.h"

#include "flow/base/random.h"
#include "flow/loop/detail/outer_poller.h"

#include <ctime>
#include <limits>
#include <utility>

namespace flow {

namespace {

double secondsOf(clockid_t clock) noexcept {
    timespec time;
    ::clock_gettime(clock, &time); // nondeterminism: only a RealLoop uses the machine's time
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double startOfFirstLoop() noexcept {
    static double const start = machineTime();
    return start;
}

} // namespace

double machineTime() noexcept {
    return secondsOf(CLOCK_MONOTONIC);
}

double realLoopTime() noexcept {
    double start = startOfFirstLoop(); // must come first: the first call sets the start
    return machineTime() - start;
}

RealLoop::RealLoop() : start_(startOfFirstLoop()) {
    now_ = RealLoop::timer();
    timerSteps_ = kTimerStepsPerTurn;
    detail::realLoopMade(*this);
    seedUnusedDeterministicRandom();
}

RealLoop::~RealLoop() {
    if (outer_)
        outer_->endRest();
    endInOrder();
}

double RealLoop::timer() {
    return machineTime() - start_;
}

double RealLoop::wallTime() {
    return secondsOf(CLOCK_REALTIME);
}

double RealLoop::startTurn() noexcept {
    return timer();
}

bool RealLoop::idleUntil(double deadline) {
    if (deadline == std::numeric_limits<double>::infinity() && !isGuarded() && !Loop::poller().isWaitedFor())
        return false;
    double seconds = deadline - timer();
    if (seconds > 0)
        polled_ = sleep(seconds);
    return true;
}

bool RealLoop::runTurn() {
    Poller& poller = Loop::poller();
    if (poller.isUsed() && !std::exchange(polled_, false)) {
        poller.prepare();
        poller.wait(0);
    }
    return Loop::runTurn();
}

bool RealLoop::sliceIsOver() {
    resetSlice();
    return timer() - now_ >= kSliceSeconds;
}

} // namespace flow
