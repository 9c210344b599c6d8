#pragma once
// Loop: runs the ready steps, most urgent first. When no step is ready, it lets time pass.
//
//     RealLoop loop;                          // flow/loop/real_loop.h; SimLoop for virtual time
//     int answer = loop.run(compute());       // until compute() is ready
//
//     Loop::current().now()                   // inside of a step: the loop of this thread
//
// A thread has one current loop: a new loop becomes current, and its destructor makes the previous loop current again.
// In each turn the loop reads the clock once, moves expired timers to the ready queue, and runs ready steps. now() does
// not change during a turn. Other threads may call only post() and stop(), a signal handler only stop().
//
// Functions for pollers, simulators and code that makes waiters ready: flow/loop/detail/loop_machine.h.

#include "flow/loop/detail/gdb_script.h"
#include "flow/loop/detail/loop_machine.h"

#include <source_location>
#include <type_traits>
#include <vector>

namespace flow {
namespace detail {

/// The address of this variable identifies T. It is not constant: a linker may merge constants with equal values.
template <class T>
inline constinit char serviceKey = 0;

} // namespace detail

/// A service of the loop. It holds the work of shield(): run(future) and the loop's destructor wait for that work.
class LastWork {
public:
    virtual void hold(Future<Void> work) = 0;
    /// Returns a future that is ready when all work has ended.
    virtual Future<Void> ended() = 0;

protected:
    ~LastWork() = default;
};

class Loop : public LoopMachine {
public:
    /// The destructor of a RealLoop or SimLoop first calls runLastWork(), if the loop is current. Then waiters that are
    /// still parked stay parked forever (dropping the future of an actor still cancels the actor). Posted calls that
    /// have not run are destroyed, and calls that onLoop has sent to this loop are cancelled. No WorkGuard may be left,
    /// and no step of this loop may be running. So a step of a static loop must not call exit().
    virtual ~Loop();

    /// Returns the current loop of this thread; there must be one.
    static Loop& current();

    /// Returns the seconds on this loop's clock, read once in each turn. Outside run(), now() reads the clock.
    double now() {
        if (runs_ == 0) [[unlikely]]
            lookAtClock();
        return now_;
    }
    /// Reads the seconds on this loop's clock now.
    virtual double timer() = 0;
    /// Returns the date in seconds since 1970, UTC. Virtual time begins at kVirtualDate.
    virtual double wallTime() { return kVirtualDate + timer(); }
    /// 2020-01-01, 00:00 UTC.
    static constexpr double kVirtualDate = 1577836800;
    virtual bool isSimulated() const { return false; }

    /// Runs until the future is ready, and returns its value or throws its error. Outside of a step, then also waits
    /// for the LastWork. Throws loop_drained if no work is left that could make the future ready.
    template <class T>
    T run(Future<T> future, std::source_location caller = std::source_location::current()) {
        if (!future.isReady())
            runUntilReady(future.cell());
        if (!future.isReady())
            throw loop_drained(caller);
        runLastWork();
        if (future.isError())
            detail::throwErrorOf(future.cell());
        return detail::takeValue<T>(std::move(future).release());
    }
    /// Like run(), for a type that converts to Future<Void>, such as a delay.
    void run(Future<Void> future, std::source_location caller = std::source_location::current()) {
        run<Void>(std::move(future), caller);
    }
    /// Runs until stop(), or until no work is left. While a WorkGuard exists, run() waits for posts of other threads
    /// even without work. Returns true if stop() was called.
    bool run();
    /// Runs until the LastWork has ended, or until stop(). Does nothing inside of a step.
    void runLastWork();
    /// Makes run() return after the current step; if a step runs its own loop, the innermost run() returns. Outside
    /// run(), makes the next run() return without running a step. Any thread and any signal handler may call stop(),
    /// while the loop runs or sleeps; the loop must still exist.
    void stop() noexcept {
        stopped_.store(true, std::memory_order_seq_cst); // before rouse() checks if the loop sleeps
        turnEnded_.store(true, std::memory_order_relaxed);
        if (inbox_.rouse())
            poller_->wake();
    }

    /// Runs call() once on this loop's thread. The call joins the ready steps of its priority at the end of the current
    /// turn at the latest. Calls of one thread at one priority run in order. Any thread may call post(); the loop must
    /// still exist. An error of call() is reported as dropped. Throws std::bad_alloc, and the errors of a move of
    /// `call`. PostLimit (flow/loop/post_limit.h) limits the number of waiting calls.
    template <class F>
    void post(F call, TaskPriority priority = TaskPriority::DefaultOnMainThread) {
        putIntoInbox(*new PostedCall<F>(std::move(call)), priority);
    }

    /// Returns the T of this loop, an interface such as FileSystem; null if none was provided.
    template <class T>
    T* service() const {
        return static_cast<T*>(find(&detail::serviceKey<T>));
    }
    /// Sets service<T>() (null: none). Name T in the call. The loop does not own `service`. Throws std::bad_alloc.
    template <class T>
    void provide(std::type_identity_t<T>* service) {
        provide(&detail::serviceKey<T>, service);
    }

    TaskPriority currentPriority() const { return static_cast<TaskPriority>(ready_.priority()); }
    std::uint64_t stepsRun() const { return steps_; }
    /// True if the running step should yield: more urgent work is ready, or its time slice is over.
    bool shouldYield() {
        if (ready_.hasMoreUrgentThan(ready_.priority())) [[unlikely]]
            return true;
        return --slice_ < 0 && sliceIsOver();
    }

    /// For simulators: makes `next` the current loop of this thread (null: no loop), and returns the previous loop.
    static Loop* setCurrent(Loop* next) noexcept;

protected:
    Loop();
    /// Does not become the current loop: the derived class decides when the loop is current.
    enum class NotCurrent {};
    explicit Loop(NotCurrent);

    /// Called by destructors of loops without a simulated machine: runs the LastWork, if this is the current loop.
    void endInOrder() noexcept;

private:
    struct Service {
        void const* key;
        void* object;
    };

    void* find(void const* key) const;
    void provide(void const* key, void* object);
    void runUntilReady(detail::Cell* cell);
    /// For run(future): ends the turn, so that run() tests the future again. Reports show this function as the waiter.
    static void run(detail::Waiter* waiter);
    bool runUntil(detail::Cell* cell);

    Loop* previous_;
    std::vector<Service> services_; // few
};

/// While a WorkGuard exists, run() of its loop does not end for lack of work: other threads may post calls. A WorkGuard
/// is made and destroyed on the loop's thread, before the loop ends.
class WorkGuard {
public:
    explicit WorkGuard(Loop& guarded) : loop_(guarded) { ++loop_.guards_; }
    WorkGuard(WorkGuard const&) = delete;
    WorkGuard& operator=(WorkGuard const&) = delete;
    ~WorkGuard() { --loop_.guards_; }

private:
    LoopMachine& loop_;
};

namespace detail {
inline constinit thread_local Loop* currentLoop = nullptr;

/// Returns a loop for a thread that has no current loop. Before the thread ends, the call is an assertion failure.
/// While the thread ends, destructors of thread_local objects (and of static objects on the main thread) may break
/// promises, and so resume actors. These actors get a loop on which time stands still and nothing ever runs.
[[gnu::cold]] Loop& loopOfEndingThread();
/// Called when a loop is made, so that loopOfEndingThread() can detect later that this thread is ending.
void noteThreadHasLoop() noexcept;
} // namespace detail

inline Loop& Loop::current() {
    Loop* current = detail::currentLoop;
    return current ? *current : detail::loopOfEndingThread();
}
inline bool hasLoop() {
    return detail::currentLoop != nullptr;
}

/// Returns the seconds on the current loop's clock: the time of this turn.
inline double now() {
    return Loop::current().now();
}
/// Reads the seconds on the current loop's clock now.
inline double timer() {
    return Loop::current().timer();
}
/// Reads the date in seconds since 1970, UTC: for logs and for data that leaves the program. It may jump, even back.
inline double wallTime() {
    return Loop::current().wallTime();
}

} // namespace flow
