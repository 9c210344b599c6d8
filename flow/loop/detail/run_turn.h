#pragma once
// LoopMachine::runTurnWith() and runWatchedTurnWith(), for loops that choose the next step themselves.
//
//     bool SimLoop::runTurn() {
//         auto take = [this] { return choose(); };
//         return isWatched() ? runWatchedTurnWith(take) : runTurnWith(take);
//     }

#include "flow/core/detail/turn_budget.h"
#include "flow/loop/detail/loop_machine.h"
#include "flow/loop/step_watch.h"

#include <utility>

namespace flow {

template <class Next, class Woken>
bool LoopMachine::runTurnWith(Next&& next, Woken&& woken) {
    turnEnded_.store(false, std::memory_order_relaxed);
    now_ = startTurn();
    resetSlice();
    TurnBudget::begin();
    if (!inbox_.isEmpty()) [[unlikely]]
        takeInbox();
    woken(WokenBy::Post);
    timers_.expire(now_, timerSteps_,
                   [this](detail::Waiter* waiter, TaskPriority priority) { ready_.push(waiter, priority); });
    woken(WokenBy::Timer);
    for (int i = 0; i < kStepsPerTurn; ++i) {
        detail::Waiter* step = next();
        if (!step) {
            isBehind_ = false;
            return waitForWork();
        }
        ++steps_;
        detail::run(step);
        if (turnEnded_.load(std::memory_order_relaxed))
            break;
    }
    isBehind_ = ready_.priority() > static_cast<int>(TaskPriority::DefaultDelay);
    return true;
}

template <class Next>
bool LoopMachine::runTurnWith(Next&& next) {
    return runTurnWith(next, [](WokenBy) {});
}

template <class Next>
bool LoopMachine::runWatchedTurnWith(Next&& next) {
    if (watches_->isIdle()) { // a step has removed the last watch
        delete std::exchange(watches_, nullptr);
        return runTurnWith(next);
    }
    detail::StepWatches& watches = *watches_;
    bool isRunning = false;
    auto noteEnd = [&] {
        if (std::exchange(isRunning, false))
            watches.ended();
        watches.woken(WokenBy::Step);
    };
    watches.turnBegins();
    watches.woken(runs_ > 1 ? WokenBy::Step : WokenBy::News);
    bool more = runTurnWith(
        [&]() -> detail::Waiter* {
            noteEnd();
            detail::Waiter* step = next();
            if (step) {
                watches.begins(step, static_cast<TaskPriority>(ready_.priority()));
                isRunning = true;
            } else {
                watches.turnEnds();
            }
            return step;
        },
        [&](WokenBy by) { watches.woken(by); });
    if (isRunning) {
        noteEnd();
        watches.turnEnds();
    }
    return more;
}

} // namespace flow
