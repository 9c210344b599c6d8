#include "flow/loop/loop.h"

#include <limits>

namespace flow {
namespace {

/// Waits for the future of Loop::run(future) and stops the loop.
struct StopWaiter : Waiter {
    explicit StopWaiter(Loop& loop) {
        resume = [](Waiter* self) { static_cast<Loop*>(self->owner)->stop(); };
        owner = &loop;
        link = {nullptr, nullptr};
    }
};

} // namespace

Loop::Loop() : previous_(std::exchange(detail::currentLoop, this)) {}

Loop::~Loop() {
    ready_.orphanAll();
    detail::currentLoop = previous_;
}

void Loop::runUntilReady(Cell* cell) {
    StopWaiter waiter(*this);
    addFuture(cell);
    park(&waiter, cell);
    run();
    abandon(&waiter);
}

void Loop::run() {
    FLOW_ASSERT(detail::currentLoop == this, "Loop::run() on a loop that is not the current one of this thread");
    stopped_ = false;
    while (!stopped_ && runTurn()) {
    }
}

bool Loop::runTurn() {
    now_ = startTurn();
    resetSlice();
    timers_.expire(now_, [this](Waiter* waiter, TaskPriority priority) { ready_.push(waiter, priority); });
    for (int i = 0; i < kTasksPerTurn; ++i) {
        Waiter* next = ready_.pop();
        if (!next)
            return waitForTimer();
        ++tasks_;
        flow::run(next);
        if (stopped_)
            break;
    }
    return true;
}

bool Loop::waitForTimer() {
    // A delay without end is as good as none: waiting for it would set a simulated clock to infinity.
    if (timers_.isEmpty() || timers_.nextDeadline() == std::numeric_limits<double>::infinity())
        return false;
    idleUntil(timers_.nextDeadline());
    return true;
}

} // namespace flow
