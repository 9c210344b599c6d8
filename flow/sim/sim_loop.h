#pragma once
// SimLoop: a loop on virtual time. When nothing is ready, the time jumps to the next deadline. So a program that sleeps
// for hours ends immediately, and the same program always runs in the same order.
//
//     SimLoop loop;
//     loop.run(delay(3600.0));
//     assert(loop.now() == 3600.0);

#include "flow/loop/loop.h"

#include <limits>

namespace flow {

class SimLoop final : public Loop {
public:
    /// Starts at time 0.
    SimLoop() = default;
    ~SimLoop() override { endInOrder(); }

    double timer() override { return now_; }
    bool isSimulated() const override { return true; }

private:
    double startTurn() noexcept override { return now_; }
    bool idleUntil(double deadline) override {
        if (deadline != std::numeric_limits<double>::infinity())
            now_ = deadline;
        else if (isGuarded())
            sleep(deadline); // waits for another thread, which virtual time does not control
        else
            return false;
        return true;
    }
    /// Always true: since a step takes no virtual time, it yields after a fixed number of calls of shouldYield().
    bool sliceIsOver() override {
        resetSlice();
        return true;
    }
};

} // namespace flow
