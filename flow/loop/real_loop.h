#pragma once
// RealLoop: a loop on the machine's clock.
//
//     RealLoop loop;
//     loop.run(serve());
//
// now() and timer() count seconds from the start of the program's first RealLoop, so all RealLoops of a program agree.
// They are based on machineTime(), a clock that all programs of a machine share. A timer is never early. A step that
// calls yield() often suspends after about 2 ms, or as soon as something more urgent is ready.
//
// The loop checks its poller for news when it has nothing to do, and after 64 steps at the latest. So news wait for at
// most 64 steps, and constant news do not keep ready steps from running.

#include "flow/loop/loop.h"

namespace flow {

/// Returns the seconds of CLOCK_MONOTONIC, with or without a loop.
double machineTime() noexcept;

class RealLoop final : public Loop {
public:
    RealLoop();
    ~RealLoop() override { endInOrder(); }

    double timer() override;
    double wallTime() override;

    /// Makes the loop sleep in `poller`, which must exist until the loop gets another poller; null: in its EventPoller
    /// again. Only the loop's own thread may call usePoller().
    void usePoller(Poller* poller) { setPoller(poller); }
    using Loop::poller;

private:
    static constexpr double kSliceSeconds = 0.002;
    /// A limit for a turn: a million timers may be due in one second, and other steps must run meanwhile.
    static constexpr int kTimerStepsPerTurn = 1024;

    double startTurn() noexcept override;
    bool idleUntil(double deadline) override;
    bool sliceIsOver() override;
    bool runTurn() override;

    double const start_;  // the machineTime() at which now() is 0
    bool polled_ = false; // sleep() has checked for news since the last turn
};

namespace detail {
/// Makes failures of this program report the pending computations. SIGQUIT reports them only after reportOnQuit().
/// Defined in flow/inspect/reports.cpp.
void realLoopMade(RealLoop& loop);
} // namespace detail

} // namespace flow
