#pragma once
// LoopMachine: the inside of a loop, for pollers, simulators and sources (objects that make waiters ready). Programs
// use Loop (flow/loop/loop.h), which is derived from LoopMachine.
//
//     Loop::current().makeReady(&waiter, priority);                // a source: the waiter runs as a step of its own
//     Loop::current().parkUntil(&waiter, deadline, priority);      // the same, but at the deadline
//     Loop::current().add(owned);                                  // ends together with the loop
//
//     class SimLoop final : public Loop {                 // a loop on a clock of its own
//         ~SimLoop() override { end(); }
//         double timer() override { return now_; }
//         double startTurn() noexcept override { return now_; }
//         bool idleUntil(double deadline) override;       // lets time pass
//         bool sliceIsOver() override;
//     };
//
// In a turn the loop reads the clock once, takes the calls that other threads have posted, moves expired timers to the
// ready queue, and runs ready steps. The turn ends after kStepsPerTurn steps, or when its budget is spent
// (flow/core/detail/turn_budget.h). Only putIntoInbox() may be called from another thread.

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

    /// Lets a waiter that is parked nowhere run behind the waiters that are ready at this priority.
    void makeReady(detail::Waiter* waiter, TaskPriority priority) { ready_.push(waiter, priority); }
    /// Parks a waiter, which is parked nowhere yet, until the deadline. If the deadline is not in the future, the
    /// waiter is ready now. With a deadline of infinity the waiter is never ready.
    void parkUntil(detail::Waiter* waiter, double deadline, TaskPriority priority) {
        if (deadline > now_) // false for NaN, which has no place in an order of deadlines
            timers_.park(waiter, deadline, priority);
        else
            ready_.push(waiter, priority);
    }
    /// Posts a waiter, without an allocation. Its `awaited` must be Awaited::turn(), so that the loop destroys a waiter
    /// that the loop never runs. Any thread and any signal handler may call this. See flow/loop/detail/posted.h.
    void putIntoInbox(detail::Waiter& waiter, TaskPriority priority) noexcept {
        waiter.link.prev = reinterpret_cast<detail::Link*>(static_cast<std::intptr_t>(priority));
        if (inbox_.put(&waiter))
            poller_->wake();
    }
    /// Adds an object that ends with this loop: the loop unlinks `owned` and calls its `end`.
    void add(LoopOwned& owned) { pushBack(owned_, owned); }
    /// Says that another thread will post an object. The loop's destructor waits until postCame() is called for it.
    void expectPost() { ++expected_; }
    void postCame() { --expected_; }
    /// Called before code on this loop uses a part of the real machine because no service was provided for that part.
    /// `what` is its name, such as "files". On the loop of a simulated machine the call is an assertion failure.
    virtual void useMachines([[maybe_unused]] const char* what) {}
    /// Calls visit(waiter) for each waiter that is ready or that waits for a timer. `visit` must change nothing.
    template <class Visit>
    void forEachParked(Visit&& visit) const {
        forEachReady([&](detail::Waiter* waiter, TaskPriority) { visit(waiter); });
        timers_.forEach(visit);
    }
    /// Calls visit(waiter, priority) for each waiter that is ready.
    template <class Visit>
    void forEachReady(Visit&& visit) const {
        ready_.forEach([&](detail::Waiter* waiter, int level) {
            if (!detail::isMark(waiter))
                visit(waiter, static_cast<TaskPriority>(level));
        });
    }
    /// Called when the turn's budget is spent: ends the current turn after the running step.
    void endTurn() noexcept;
    /// Returns the priority for waiters that a poller makes ready. It is `usual`, but at most DefaultDelay if the last
    /// turn was ended at a step above DefaultDelay: sockets that always have news do not keep timers waiting.
    TaskPriority priorityOfNews(TaskPriority usual) const noexcept {
        return isBehind_ && usual > TaskPriority::DefaultDelay ? TaskPriority::DefaultDelay : usual;
    }
    /// True if a step is ready or a timer is set.
    bool hasWork() { return !ready_.isEmpty() || !timers_.isEmpty(); }
    /// Adds a watch, called around each step from the next turn on, until it is removed: flow/loop/step_watch.h.
    void add(StepWatch& watch);
    void remove(StepWatch& watch) noexcept;
    /// Adds a ring, to which the loop writes from the next turn on, until it is removed: flow/loop/detail/step_ring.h.
    void add(StepRing& ring);
    void remove(StepRing& ring) noexcept;

protected:
    LoopMachine() { owned_.reset(); }
    ~LoopMachine();

    // The derived class makes these decisions.

    /// Returns the time of the turn. Called when a turn begins, and by now() outside of run().
    virtual double startTurn() noexcept = 0;
    /// Called when nothing is ready: lets time pass until `deadline`, when the earliest timer is due. May return early.
    /// Infinity means no timer: then returns false, which ends run(), unless news or posts of other threads may come.
    virtual bool idleUntil(double deadline) = 0;
    /// Called after kSlice calls of shouldYield() since resetSlice(). Calls resetSlice(). True if the step must yield.
    virtual bool sliceIsOver() = 0;
    /// Runs one turn. False when nothing is left to do.
    virtual bool runTurn();

    // The derived class uses these functions.

    /// Ends the objects that end with the loop. The destructor of each most derived class calls end(), since these
    /// objects may still read the loop's clock through virtual functions.
    void end() noexcept;

    /// The number of calls of shouldYield() in a turn before sliceIsOver() is called.
    static constexpr int kSlice = 64;
    /// The most steps in a turn, and so between two reads of the clock.
    static constexpr int kStepsPerTurn = 64;

    void resetSlice() { slice_ = kSlice; }
    /// True if a WorkGuard expects posts of other threads.
    bool isGuarded() const { return guards_ != 0; }
    /// Sleeps for `seconds`, or until a call is posted, stop() is called or the poller has news. May return earlier.
    /// Returns true if the poller has checked for news. Throws the errors of Poller::prepare().
    bool sleep(double seconds);
    /// Returns the poller in which this loop sleeps.
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
    /// Takes the most urgent ready step, the first of its priority, and makes that priority current. Null if none is
    /// ready.
    detail::Waiter* takeReady() { return ready_.pop(); }
    /// Runs one turn, without run(). Called if another loop drives this loop.
    bool step();
    /// For a loop that step() drives: false while a step of this loop is inside of a run() of this loop.
    bool isDriven() const { return runs_ == 1; }

    double now_ = 0;
    /// The argument `steps` of TimerQueue::expire(), which limits the work of one turn to find expired timers.
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
    int runs_ = 0; // the number of runs on this loop now: a step may start another run
    int guards_ = 0;
    int expected_ = 0;
    bool isBehind_ = false; // the last turn ended at a step that is more urgent than DefaultDelay
    detail::Link owned_;
    std::uint64_t steps_ = 0;
    detail::Inbox inbox_;
    EventPoller events_;
    Poller* poller_ = &events_; // does not change while the loop sleeps: a thread that wakes the loop reads it
    detail::ReadyQueue ready_;
    detail::TimerQueue timers_;
    detail::StepWatches* watches_ = nullptr; // owned; usually null
};

} // namespace flow
