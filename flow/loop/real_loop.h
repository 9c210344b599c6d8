#pragma once
// RealLoop: a loop on the machine's clock.
//
//     RealLoop loop;
//     loop.run(serve());
//
// now() and timer() count seconds of CLOCK_MONOTONIC. A timer is never early. A task that calls yield() gives way after
// 2 ms at the latest, or as soon as something more urgent is ready.

#include "flow/loop/loop.h"

namespace flow {

class RealLoop final : public Loop {
public:
    RealLoop();
    ~RealLoop() override { end(); }

    double timer() override;

private:
    static constexpr double kSliceSeconds = 0.002;
    /// A million timers may be due in one second; others shall have their turns meanwhile.
    static constexpr int kTimerStepsPerTurn = 1024;

    double startTurn() noexcept override;
    bool idleUntil(double deadline) override;
    bool sliceIsOver() override;
};

} // namespace flow
