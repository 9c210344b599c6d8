#pragma once
// LoopMachine: the base class of Loop (flow/loop/loop.h) with the functions for pollers, simulators and sources
// (objects that make waiters ready). Programs use Loop.
//
//     Loop::current().makeReady(&waiter, priority);                // a source: the waiter runs as a step
//     Loop::current().parkUntil(&waiter, deadline, priority);      // the same, but at the deadline
//     Loop::current().add(owned);                                  // the destructor of the loop ends `owned`
//
//     class SimLoop final : public Loop {                 // a loop with its own clock
//         ~SimLoop() override { end(); }
//         double timer() override { return now_; }
//         double startTurn() noexcept override { return now_; }
//         bool idleUntil(double deadline) override;       // lets time pass
//         bool sliceIsOver() override;
//     };
//
// In a turn the loop reads the clock once, takes posted calls out of the inbox, moves expired timers to the ready
// queue, and runs ready steps. The turn ends after kStepsPerTurn steps, or when its budget is spent
// (flow/core/detail/turn_budget.h). Other threads may call only putIntoInbox().

#include "flow/core/future.h"
#include "flow/core/result.h"
#include "flow/loop/detail/posted_call.h"
#include "flow/loop/detail/ready_queue.h"
#include "flow/loop/detail/timer_queue.h"
#include "flow/loop/poller.h"

#include <atomic>
#include <cstdint>

namespace flow {

namespace detail {
class StepWatches;
}
class StepRing;
class StepWatch;

/// An object that the destructor of a loop ends if it is still linked.
struct LoopOwned : ListLink {
    void (*end)(LoopOwned*);
};

class LoopMachine {
public:
    LoopMachine(LoopMachine const&) = delete;
    LoopMachine& operator=(LoopMachine const&) = delete;

    // For sources and pollers.

    /// Puts a waiter that is parked nowhere behind the ready waiters of this priority.
    void makeReady(detail::Waiter* waiter, TaskPriority priority) { ready_.push(waiter, priority); }
    /// Parks a waiter, which is parked nowhere yet, until the deadline. If the deadline is not in the future, the
    /// waiter is ready now. A deadline of infinity never comes.
    void parkUntil(detail::Waiter* waiter, double deadline, TaskPriority priority) {
        if (deadline > now_) // false for NaN, which cannot be sorted
            timers_.park(waiter, deadline, priority);
        else
            ready_.push(waiter, priority);
    }
    /// Posts a waiter, without an allocation. Its `awaited` must be Awaited::turn(), so that the loop destroys the
    /// waiter if it never runs. Any thread and any signal handler may call this. See flow/loop/detail/posted.h.
    void putIntoInbox(detail::Waiter& waiter, TaskPriority priority) noexcept {
        waiter.link.prev = reinterpret_cast<detail::Link*>(static_cast<std::intptr_t>(priority));
        if (inbox_.put(&waiter))
            poller_->wake();
    }
    /// Adds an object that ends with this loop: the loop's destructor unlinks `owned` and calls its `end`.
    void add(LoopOwned& owned) { pushBack(owned_, owned); }
    /// Announces a post of another thread. The loop's destructor waits until postCame() is called for it.
    void expectPost() { ++expected_; }
    void postCame() { --expected_; }
    /// Called before code uses a part of the real machine, because the loop has no service for this part. `what` names
    /// the part, such as "files". On the loop of a simulated machine the call is an assertion failure.
    virtual void useMachines([[maybe_unused]] const char* what) {}
    /// Calls visit(waiter) for each waiter that is ready or has a timer. `visit` must change nothing.
    template <class Visit>
    void forEachParked(Visit&& visit) const {
        forEachReady([&](detail::Waiter* waiter, TaskPriority) { visit(waiter); });
        timers_.forEach(visit);
    }
    template <class Visit>
    void forEachReady(Visit&& visit) const {
        ready_.forEach([&](detail::Waiter* waiter, int level) {
            if (!detail::isMark(waiter))
                visit(waiter, static_cast<TaskPriority>(level));
        });
    }
    /// Ends the current turn after the running step, because the turn's budget is spent.
    void endTurn() noexcept;
    /// Returns the priority for waiters that a poller makes ready: `usual`, but at most DefaultDelay if the last turn
    /// was ended at a step above DefaultDelay. So sockets with constant news do not keep timers waiting.
    TaskPriority priorityOfNews(TaskPriority usual) const noexcept {
        return isBehind_ && usual > TaskPriority::DefaultDelay ? TaskPriority::DefaultDelay : usual;
    }
    /// True if a step is ready or a timer is set.
    bool hasWork() { return !ready_.isEmpty() || !timers_.isEmpty(); }
    /// Adds a watch, which is called from the next turn on: flow/loop/step_watch.h.
    void add(StepWatch& watch);
    void remove(StepWatch& watch) noexcept;
    /// Tells the watches which waiter the answer of another thread resumes in this step; `waiter` may be null.
    void noteAnswer(detail::Waiter* waiter) noexcept;
    /// Adds a ring. The loop writes to it from the next turn on: flow/loop/detail/step_ring.h.
    void add(StepRing& ring);
    void remove(StepRing& ring) noexcept;

protected:
    LoopMachine() { owned_.reset(); }
    ~LoopMachine();

    // The derived class implements these functions.

    /// Returns the time of the turn. Called when a turn begins, and by now() outside of run().
    virtual double startTurn() noexcept = 0;
    /// Called when no step is ready: lets time pass until `deadline`, when the earliest timer is due. May return early.
    /// If `deadline` is infinity, there is no timer: returns false, to end run(), unless news or posts of other threads
    /// may come.
    virtual bool idleUntil(double deadline) = 0;
    /// Called after kSlice calls of shouldYield() since resetSlice(). Calls resetSlice(). True if the step must yield.
    virtual bool sliceIsOver() = 0;
    /// Runs one turn. Returns false when no work is left.
    virtual bool runTurn();

    // The derived class uses these functions.

    /// Ends the objects that end with the loop. The destructor of each most derived class calls end(), because these
    /// objects may still read the loop's clock, a virtual function.
    void end() noexcept;

    /// The number of calls of shouldYield() in a turn before sliceIsOver() is called.
    static constexpr int kSlice = 64;
    /// The most steps in a turn, and so between two reads of the clock.
    static constexpr int kStepsPerTurn = 64;

    void resetSlice() { slice_ = kSlice; }
    bool isGuarded() const { return guards_ != 0; }
    /// Sleeps for `seconds`, or until a call is posted, stop() is called or the poller has news. May return earlier.
    /// Returns true if the poller has checked for news. Throws the errors of Poller::prepare().
    bool sleep(double seconds);
    Poller& poller() const { return *poller_; }
    /// Makes the loop sleep in `poller`; null: in its own EventPoller again.
    void setPoller(Poller* poller) { poller_ = poller ? poller : &events_; }
    /// Runs a turn with the steps that next() returns; null means none. Defined in flow/loop/detail/run_turn.h.
    template <class Next>
    bool runTurnWith(Next&& next);
    /// Like runTurnWith(), but also calls the watches. isWatched() must be true.
    template <class Next>
    bool runWatchedTurnWith(Next&& next);
    bool isWatched() const { return watches_ != nullptr; }
    /// Takes the first waiter of the highest priority, and makes that priority current. Returns null if none is ready.
    detail::Waiter* takeReady() { return ready_.pop(); }
    /// Runs one turn without run(), for code that drives this loop from another loop.
    bool step();
    bool isRunning() const { return runs_ != 0; }
    /// For a loop inside another one: the two halves of sleep(), while the other loop sleeps at this loop's poller.
    /// fallAsleep() returns false if a call was posted, or stop() was called.
    bool fallAsleep() noexcept;
    void wakeUp() noexcept;
    /// Returns the time on this loop's clock when the next step is due: 0 if a step is ready, infinity without steps.
    double nextStep() { return ready_.isEmpty() && inbox_.isEmpty() ? timers_.nextDeadline() : 0; }
    /// True after stop(); the next call returns false.
    bool takeStop() noexcept { return stopped_.exchange(false); }
    /// For a loop that step() drives: false while a step of this loop calls run() on this loop.
    bool isDriven() const { return runs_ == 1; }

    double now_ = 0;
    /// The argument `steps` of TimerQueue::expire(): limits the work of a turn.
    int timerSteps_ = detail::TimerQueue::kNoLimit;

private:
    friend class Loop;
    friend class WorkGuard;

    template <class Next, class Woken>
    bool runTurnWith(Next&& next, Woken&& woken);
    template <class T>
    void addWatching(T& watching);
    template <class T>
    void removeWatching(T& watching) noexcept;
    FLOW_RARE void lookAtClock() noexcept;
    bool waitForWork();
    void takeInbox();

    int slice_ = kSlice;
    std::atomic<bool> stopped_{false};
    std::atomic<bool> turnEnded_{false};
    int runs_ = 0; // the number of active run() calls: a step may call run() again
    int guards_ = 0;
    int expected_ = 0;
    bool isBehind_ = false; // the last turn was ended at a step above DefaultDelay
    detail::Link owned_;
    std::uint64_t steps_ = 0;
    detail::Inbox inbox_;
    EventPoller events_;
    Poller* poller_ = &events_; // does not change while the loop sleeps, because threads that wake the loop read it
    detail::ReadyQueue ready_;
    detail::TimerQueue timers_;
    detail::StepWatches* watches_ = nullptr; // owned; usually null
};

} // namespace flow
