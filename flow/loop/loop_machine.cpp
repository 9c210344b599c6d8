#include "flow/loop/detail/run_turn.h"

#include <thread>

namespace flow {
using namespace detail;

LoopMachine::~LoopMachine() {
    delete watches_;
}

void LoopMachine::end() noexcept {
    FLOW_ASSERT(runs_ == 0, "a loop is destroyed by a step that it runs");
    for (;;) { // an `end` function may post, and add new objects to the loop
        while (!owned_.isEmpty()) {
            auto* owned = static_cast<LoopOwned*>(owned_.next);
            owned->unlink();
            owned->end(owned);
        }
        takeInbox();
        ready_.detachAll();
        if (!inbox_.isEmpty() || !owned_.isEmpty())
            continue;
        if (expected_ == 0)
            break;
        // nondeterminism: simulated loops expect no posts. Another thread is a few instructions before its post.
        std::this_thread::yield();
    }
    FLOW_ASSERT(guards_ == 0, "a loop is destroyed although a WorkGuard, or a call with onLoop, still needs it");
}

void LoopMachine::lookAtClock() noexcept {
    now_ = startTurn();
}

template <class T>
void LoopMachine::addWatching(T& watching) {
    if (!watches_)
        watches_ = new StepWatches(ready_);
    watches_->add(watching);
}

template <class T>
void LoopMachine::removeWatching(T& watching) noexcept {
    watches_->remove(watching);
    if (watches_->isIdle())
        delete std::exchange(watches_, nullptr);
}

void LoopMachine::noteAnswer(Waiter* waiter) noexcept {
    if (watches_ && waiter)
        watches_->answers(waiter);
}

void LoopMachine::add(StepWatch& watch) {
    addWatching(watch);
}

void LoopMachine::remove(StepWatch& watch) noexcept {
    removeWatching(watch);
}

void LoopMachine::add(StepRing& ring) {
    addWatching(ring);
}

void LoopMachine::remove(StepRing& ring) noexcept {
    removeWatching(ring);
}

bool LoopMachine::runTurn() {
    if (isWatched()) [[unlikely]]
        return runWatchedTurnWith([this] { return takeReady(); });
    return runTurnWith([this] { return takeReady(); });
}

/// Ends the turn. Operations that were put off to a later turn wait at DefaultDelay. They would block waiters at the
/// lower DefaultYield (for locks and channels). So each call moves the first waiter at DefaultYield up to DefaultDelay.
void LoopMachine::endTurn() noexcept {
    if (turnEnded_.exchange(true, std::memory_order_relaxed))
        return;
    Waiter* first = ready_.first(TaskPriority::DefaultYield);
    if (!first || isMark(first))
        return;
    first->link.unlink();
    ready_.push(first, TaskPriority::DefaultDelay);
}

bool LoopMachine::step() {
    ++runs_;
    struct Ended {
        int& runs;
        ~Ended() { --runs; }
    } ended{runs_};
    return runTurn();
}

bool LoopMachine::sleep(double seconds) {
    Poller& poller = *poller_;
    poller.prepare();
    if (!inbox_.fallAsleep())
        return false;
    // Either stop() sees the mark and wakes this loop, or the next line sees the stop().
    bool asks = !stopped_.load(std::memory_order_seq_cst);
    if (asks) {
        if (watches_) [[unlikely]]
            watches_->sleeps();
        poller.wait(seconds);
        if (watches_) [[unlikely]]
            watches_->wakes();
    }
    if (!inbox_.wakeUp())
        poller.takeWake();
    return asks;
}

bool LoopMachine::fallAsleep() noexcept {
    if (!inbox_.fallAsleep())
        return false;
    if (watches_)
        watches_->sleeps();
    if (!stopped_.load(std::memory_order_seq_cst)) // as in sleep()
        return true;
    wakeUp();
    return false;
}

void LoopMachine::wakeUp() noexcept {
    if (watches_)
        watches_->wakes();
    if (!inbox_.wakeUp())
        poller_->takeWake();
}

void LoopMachine::takeInbox() {
    inbox_.takeAll([this](Waiter* waiter) {
        auto priority = static_cast<TaskPriority>(reinterpret_cast<std::intptr_t>(waiter->link.prev));
        waiter->link = {nullptr, nullptr};
        ready_.push(waiter, priority);
    });
}

bool LoopMachine::waitForWork() {
    if (!inbox_.isEmpty())
        return true;
    // Timers at infinity do not count: waiting for one would set a simulated clock to infinity.
    double deadline = timers_.nextDeadline();
    return deadline <= now_ || idleUntil(deadline); // deadline <= now_: expired timers are still in the queue
}

} // namespace flow
