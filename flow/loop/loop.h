#pragma once
// Loop: runs the ready steps, most urgent first, and lets time pass when no step is ready.
//
//     RealLoop loop;                          // flow/loop/real_loop.h; SimLoop for virtual time
//     int answer = loop.run(compute());       // until that future is ready
//
//     Loop::current().now()                   // inside: the loop of this thread
//
// A thread has one current loop at a time: a new loop becomes current, and its end makes the previous loop current. In
// each turn the loop reads the clock once, moves expired timers to the ready queue, and runs ready steps. now() does
// not change during a turn. Other threads may call only post() and stop(), and a signal handler only stop().
//
// The functions for pollers, simulators and code that makes waiters ready are in flow/loop/detail/loop_machine.h.

#include "flow/loop/detail/loop_machine.h"

#include <source_location>
#include <type_traits>
#include <vector>

namespace flow {
namespace detail {

/// A variable with an address that stands for T. It is not constant: a linker may merge constants with equal values.
template <class T>
inline constinit char serviceKey = 0;

} // namespace detail

/// A service of the loop: holds the work that run(future) and the end of a loop wait for. shield() uses it
/// (flow/tasks/scope.h).
class LastWork {
public:
    virtual void hold(Future<Void> work) = 0;
    /// Returns a future that is ready when no work is left.
    virtual Future<Void> ended() = 0;

protected:
    ~LastWork() = default;
};

class Loop : public LoopMachine {
public:
    /// The end of a RealLoop or SimLoop calls runLastWork() first, if it is the current loop of this thread. Then
    /// waiters that are still parked at this loop stay parked forever, but an actor with a dropped future is
    /// cancelled as usual. Posted calls that have not run are destroyed. Calls that onLoop has sent to this loop and
    /// that have not ended are cancelled. No WorkGuard may be left. No step of this loop may be running. So a step of
    /// a static loop must not call exit().
    virtual ~Loop();

    /// Returns the loop of this thread; there must be one.
    static Loop& current();

    /// Returns the seconds on this loop's clock. The loop reads the clock once in each turn. Outside run() there are no
    /// turns, and now() reads the clock itself.
    double now() {
        if (runs_ == 0) [[unlikely]]
            lookAtClock();
        return now_;
    }
    /// Reads the seconds on this loop's clock now.
    virtual double timer() = 0;
    /// Returns the current seconds since 1970, UTC. If time is virtual, it began on the first day of 2020.
    virtual double wallTime() { return 1577836800 + timer(); }
    /// True if the time of this loop is virtual.
    virtual bool isSimulated() const { return false; }

    /// Runs until the future is ready, and then until the LastWork has ended, unless a step of this loop calls run().
    /// Returns the value of the future, or throws its error. Throws loop_drained if no work is left that could make the
    /// future ready.
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
    /// Runs until stop() or until nothing is left to do. With a WorkGuard there is always something left, since other
    /// threads may post.
    void run();
    /// Runs until the LastWork has ended, or until stop(). Does nothing inside of a step.
    void runLastWork();
    /// Makes run() return after the current step; if a step runs its own loop, the innermost run() returns. Outside
    /// run(), makes the next run() return without running a step. Any thread and any signal handler may call stop(),
    /// while the loop runs or sleeps; the loop must still exist.
    void stop() noexcept {
        stopped_.store(true, std::memory_order_seq_cst); // before the check whether the loop sleeps
        turnEnded_.store(true, std::memory_order_relaxed);
        if (inbox_.rouse())
            poller_->wake();
    }

    /// Runs call() once on this loop's thread. The loop finds the call at the end of the current turn at the latest,
    /// and runs it behind the steps that are ready at that priority then. Calls of one thread at one priority run in
    /// order. Any thread may call post(); the loop must still exist. An error of call() is reported as dropped. Throws
    /// std::bad_alloc, and the errors of a move of `call`. PostLimit (flow/loop/post_limit.h) limits the number of
    /// calls that wait.
    template <class F>
    void post(F call, TaskPriority priority = TaskPriority::DefaultOnMainThread) {
        putIntoInbox(*new PostedCall<F>(std::move(call)), priority);
    }

    /// Returns the T that code on this loop uses, an interface such as FileSystem; null if none was provided.
    template <class T>
    T* service() const {
        return static_cast<T*>(find(&detail::serviceKey<T>));
    }
    /// Makes service<T>() return `service`, which may be null. T has to be named. The loop does not own `service`.
    /// Throws std::bad_alloc.
    template <class T>
    void provide(std::type_identity_t<T>* service) {
        provide(&detail::serviceKey<T>, service);
    }

    /// Returns the priority of the running step.
    TaskPriority currentPriority() const { return static_cast<TaskPriority>(ready_.priority()); }
    /// Returns the number of steps that have run so far.
    std::uint64_t stepsRun() const { return steps_; }
    /// True if the running step should yield: more urgent work is ready, or the turn has lasted for long.
    bool shouldYield() {
        if (ready_.hasMoreUrgentThan(ready_.priority())) [[unlikely]]
            return true;
        return --slice_ < 0 && sliceIsOver();
    }

    /// Makes `loop` the current loop of this thread; null: none. Returns the previous one. Simulators call it.
    static Loop* setCurrent(Loop* loop) noexcept;

protected:
    /// Becomes the current loop of this thread.
    Loop();
    /// Does not become the current loop: the derived class decides when the loop is current.
    enum class NotCurrent {};
    explicit Loop(NotCurrent);

    /// For the destructor of a loop without a simulated machine: runs the LastWork, if this is the current loop.
    void endInOrder() noexcept;

private:
    struct Service {
        void const* key;
        void* object;
    };

    void* find(void const* key) const;
    void provide(void const* key, void* object);
    void runUntilReady(detail::Cell* cell);
    /// Resumes the waiter of run(future): the turn ends, and run() tests the future again. Reports show the name of
    /// this function as the waiter: Loop::run.
    static void run(detail::Waiter* waiter);
    void runUntil(detail::Cell* cell);

    Loop* previous_;
    std::vector<Service> services_; // few
};

/// While a WorkGuard exists, its loop does not end for lack of work, since other threads may post calls. A WorkGuard is
/// made and destroyed on the loop's own thread, and destroyed before the loop.
class WorkGuard {
public:
    explicit WorkGuard(Loop& loop) : loop_(loop) { ++loop_.guards_; }
    WorkGuard(WorkGuard const&) = delete;
    WorkGuard& operator=(WorkGuard const&) = delete;
    ~WorkGuard() { --loop_.guards_; }

private:
    LoopMachine& loop_;
};

namespace detail {
inline constinit thread_local Loop* currentLoop = nullptr;

/// Returns a loop for a thread without one. Before the thread ends, the call is an assertion failure. While it ends,
/// the destructors of thread_local objects (and static objects on the main thread) may still break promises, and so
/// resume actors. These actors get a loop on which time stands still and nothing ever runs.
[[gnu::cold]] Loop& loopOfEndingThread();
/// Called when a loop is made, so that loopOfEndingThread() can find out later that this thread ends.
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
/// Reads the date in seconds since 1970, UTC: for logs and for data that leaves the program. The date may jump, also
/// back; now() never jumps.
inline double wallTime() {
    return Loop::current().wallTime();
}

} // namespace flow
