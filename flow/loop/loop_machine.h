#pragma once
// LoopMachine: the inside of a loop, for sources, pollers and simulators. Programs use Loop (flow/loop/loop.h), which
// is derived from it.
//
//     Loop::current().makeReady(&waiter, priority);                // a source: the waiter runs in a turn of its own
//     Loop::current().parkUntil(&waiter, deadline, priority);      // the same when the time has come
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
// A turn: read the clock once, take the calls that other threads have posted, move expired timers to the ready queue,
// run ready steps, until so many have run or the turn's budget is spent (flow/core/turn_budget.h). Everything but
// putIntoInbox() belongs to the loop's thread.

#include "flow/core/future.h"
#include "flow/core/result.h"
#include "flow/loop/poller.h"
#include "flow/loop/posted_call.h"
#include "flow/loop/ready_queue.h"
#include "flow/loop/timer_queue.h"

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

    /// Lets a free waiter run behind the waiters that are ready at this priority.
    void makeReady(detail::Waiter* waiter, TaskPriority priority) { ready_.push(waiter, priority); }
    /// Parks a free waiter until the deadline; one that is not in the future makes it ready. At infinity it never is.
    void parkUntil(detail::Waiter* waiter, double deadline, TaskPriority priority) {
        if (deadline > now_) // false for NaN, which has no place in an order of deadlines
            timers_.park(waiter, deadline, priority);
        else
            ready_.push(waiter, priority);
    }
    /// Post() without an allocation, for a waiter with Awaited::turn() in `awaited`, which the loop destroys if it
    /// never runs it. Any thread and any signal handler may call it. See flow/loop/posted.h.
    void putIntoInbox(detail::Waiter& waiter, TaskPriority priority) noexcept {
        waiter.link.prev = reinterpret_cast<detail::Link*>(static_cast<std::intptr_t>(priority));
        if (inbox_.put(&waiter))
            poller_->wake();
    }
    /// When this loop ends, it unlinks `owned` and calls its `end`.
    void add(LoopOwned& owned) { pushBack(owned_, owned); }
    /// A loop that is destroyed between these two calls waits for an object that another thread is about to put in.
    void expectPost() { ++expected_; }
    void postCame() { --expected_; }
    /// Code on this loop is about to use the machine's own `what`, since none was provided. For the loop of a
    /// simulated machine that is an assertion failure.
    virtual void useMachines([[maybe_unused]] const char* what) {}
    /// Calls visit(waiter) for each waiter that is ready, and for each that waits for a timer. It must change nothing.
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
    /// The turn under way ends with the running step, since its budget is spent.
    void endTurn() noexcept;
    /// The priority for waiters that a poller makes ready: `usual`, unless the last turn had too many steps that are as
    /// urgent. Then it is DefaultDelay at most: sockets that always have news do not keep timers waiting.
    TaskPriority priorityOfNews(TaskPriority usual) const noexcept {
        return isBehind_ && usual > TaskPriority::DefaultDelay ? TaskPriority::DefaultDelay : usual;
    }
    /// True if a step is ready or a timer is set.
    bool hasWork() { return !ready_.isEmpty() || !timers_.isEmpty(); }
    /// From the next turn on the watch is called around each step, until it is removed: flow/loop/step_watch.h.
    void add(StepWatch& watch);
    void remove(StepWatch& watch) noexcept;
    /// From the next turn on the loop writes to the ring, until it is removed: flow/loop/step_ring.h.
    void add(StepRing& ring);
    void remove(StepRing& ring) noexcept;

protected:
    LoopMachine() { owned_.reset(); }
    ~LoopMachine();

    // The decisions of a kind of loop.

    /// Returns the time of the turn. Called when a turn begins, and by now() outside of run().
    virtual double startTurn() noexcept = 0;
    /// Nothing is ready and the earliest timer is at `deadline`: lets time pass until then. Infinity: there is none,
    /// and unless another thread may post, the result is false, which ends run(). May return early.
    virtual bool idleUntil(double deadline) = 0;
    /// The slice counter ran out: true if the step must really yield; either way the counter is set again.
    virtual bool sliceIsOver() = 0;
    /// One turn; false when nothing is left to do.
    virtual bool runTurn();

    // The tools of a kind of loop.

    /// To be called by the destructor of each most derived class: objects that end with the loop may still read its
    /// clock.
    void end() noexcept;

    /// The number of yields that a step may skip before sliceIsOver() is called.
    static constexpr int kSlice = 64;
    /// Steps run between two reads of the clock.
    static constexpr int kStepsPerTurn = 64;

    void resetSlice() { slice_ = kSlice; }
    /// True if a WorkGuard expects posts of other threads.
    bool isGuarded() const { return guards_ != 0; }
    /// Sleeps until something is posted, stop() is called or the poller has news, or for so long; may return early.
    /// True if the poller has checked for news. Throws what Poller::prepare() throws.
    bool sleep(double seconds);
    /// The poller in which this loop sleeps.
    Poller& poller() const { return *poller_; }
    /// From here on the loop sleeps in `poller`; null: at its own eventfd again.
    void setPoller(Poller* poller) { poller_ = poller ? poller : &events_; }
    /// runTurn() with the steps that next() takes; null: there is none. Defined in flow/loop/run_turn.h.
    template <class Next>
    bool runTurnWith(Next&& next);
    /// runTurnWith() that calls the watches, for a loop that isWatched().
    template <class Next>
    bool runWatchedTurnWith(Next&& next);
    bool isWatched() const { return watches_ != nullptr; }
    /// Takes the most urgent ready step, the first of its priority, which becomes the current priority. Null if none is
    /// ready.
    detail::Waiter* takeReady() { return ready_.pop(); }
    /// A turn of a loop that another one drives, for which run() is not called.
    bool step();
    /// True if this turn is one of step(), and not of a run() inside it.
    bool isDriven() const { return runs_ == 1; }

    double now_ = 0;
    /// The number of steps in which a turn may search for timers that have expired.
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
    int runs_ = 0; // runs under way on this loop: a step may start another
    int guards_ = 0;
    int expected_ = 0;
    bool isBehind_ = false; // the last turn came to its end at a step that is more urgent than DefaultDelay
    detail::Link owned_;
    std::uint64_t steps_ = 0;
    detail::Inbox inbox_;
    EventPoller events_;
    Poller* poller_ = &events_; // not set while the loop sleeps: a thread that wakes it uses this one
    detail::ReadyQueue ready_;
    detail::TimerQueue timers_;
    detail::StepWatches* watches_ = nullptr; // owned; none as a rule
};

} // namespace flow
