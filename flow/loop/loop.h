#pragma once
// Loop: runs what is ready, most urgent first, and lets time pass when nothing is.
//
//     RealLoop loop;                          // flow/loop/real_loop.h; SimLoop for virtual time
//     int answer = loop.run(compute());       // until that future is ready
//
//     loop().now()                            // inside: the loop of this thread
//
// One loop per thread at a time: making one makes it current, destroying it brings back the one before. A loop runs in
// turns: read the clock once, move expired timers to the ready queue, run ready tasks. now() stands still in a turn.
// Of all this only post() and stop() may be called from another thread, and stop() from a signal handler.

#include "flow/core/future.h"
#include "flow/core/result.h"
#include "flow/loop/poller.h"
#include "flow/loop/posted_call.h"
#include "flow/loop/ready_queue.h"
#include "flow/loop/timer_queue.h"

#include <atomic>
#include <type_traits>
#include <vector>

namespace flow {
namespace detail {

/// What a loop ends when it is destroyed, unless it has been unlinked before.
struct LoopOwned : Link {
    void (*end)(LoopOwned*);
};

/// Its address stands for T. Not constant: a linker may give constants of one value one address.
template <class T>
inline constinit char serviceKey = 0;

} // namespace detail

class Loop {
public:
    Loop(Loop const&) = delete;
    Loop& operator=(Loop const&) = delete;
    /// What is still parked here stays parked for ever; dropping its future cancels it as usual. Calls that were posted
    /// and did not run are destroyed, and those with onLoop that have not come to an end here are cancelled. There must
    /// be no WorkGuard left, and no task of this loop up the stack (as when one calls exit() and the loop is static).
    virtual ~Loop();

    /// Seconds on this loop's clock, read once a turn; outside run(), where there are no turns, read now.
    double now() {
        if (runs_ == 0) [[unlikely]]
            lookAtClock();
        return now_;
    }
    /// Seconds on this loop's clock, read now.
    virtual double timer() = 0;
    /// Whether time here is virtual.
    virtual bool isSimulated() const { return false; }

    /// Runs until the future is ready and returns its value, or throws its error. Throws loop_drained when nothing is
    /// left that could make it ready.
    template <class T>
    T run(Future<T> future) {
        if (!future.isReady())
            runUntilReady(future.cell());
        if (!future.isReady())
            throw loop_drained();
        if (future.isError())
            throw future.getError();
        return detail::takeValue<T>(std::move(future).release());
    }
    /// The same for what converts to Future<Void>: delays.
    void run(Future<Void> future) { run<Void>(std::move(future)); }
    /// Runs until stop() or until nothing is left to do. With a WorkGuard there is always something: what other threads
    /// may post.
    void run();
    /// Makes run() return after the current task (the innermost run, if a task runs its own loop); called outside run()
    /// it ends the next one at once. Any thread may call it, and any signal handler, whether the loop runs or sleeps;
    /// the caller sees to it that the loop still exists.
    void stop() noexcept {
        stopped_.store(true, std::memory_order_seq_cst); // before the look at whether the loop sleeps
        turnEnded_.store(true, std::memory_order_relaxed);
        if (inbox_.rouse())
            poller_->wake();
    }

    /// Runs call() on this loop's thread, once, behind what is ready at that priority when the loop finds it: at the
    /// latest when the current turn ends. Calls of one thread at one priority run in order. Any thread may call it; the
    /// caller sees to it that the loop still exists. An error that call() throws is reported as dropped. Throws
    /// std::bad_alloc, and what moving `call` throws.
    template <class F>
    void post(F call, TaskPriority priority = TaskPriority::DefaultOnMainThread) {
        putIntoInbox(*new detail::PostedCall<F>(std::move(call)), priority);
    }
    /// The same for a waiter whose `awaited` is Awaited::turn(), and which the loop destroys if it never runs it. A
    /// signal handler may call it.
    void putIntoInbox(detail::Waiter& waiter, TaskPriority priority) noexcept {
        waiter.link.prev = reinterpret_cast<detail::Link*>(static_cast<std::intptr_t>(priority));
        if (inbox_.put(&waiter))
            poller_->wake();
    }

    /// What code on this loop shall use as its T, an interface such as FileSystem; null if nobody has provided any.
    template <class T>
    T* service() const {
        return static_cast<T*>(find(&detail::serviceKey<T>));
    }
    /// From here on that is `service`, in place of what was there; null: nothing. T has to be named. The loop does not
    /// own it. Throws std::bad_alloc.
    template <class T>
    void provide(std::type_identity_t<T>* service) {
        provide(&detail::serviceKey<T>, service);
    }

    /// Code on this loop is about to use the machine's own `what`, since nobody has provided any. The loop of a
    /// simulated machine dies of it.
    virtual void useMachines([[maybe_unused]] const char* what) {}

    /// The owned is ended, unlinked, when this loop is.
    void add(detail::LoopOwned& owned) { pushBack(owned_, owned); }
    /// Between these two calls of its thread the loop waits, when it is destroyed, for what another thread is about to
    /// put in.
    void expectPost() { ++expected_; }
    void postCame() { --expected_; }

    /// The priority of the running task.
    TaskPriority currentPriority() const { return static_cast<TaskPriority>(ready_.priority()); }
    /// Tasks run so far.
    std::uint64_t tasksRun() const { return tasks_; }
    /// Whether a task is ready or a timer is set.
    bool hasWork() { return !ready_.isEmpty() || !timers_.isEmpty(); }

    /// Lets a free waiter run behind what is ready at this priority.
    void makeReady(detail::Waiter* waiter, TaskPriority priority) { ready_.push(waiter, priority); }
    /// Parks a free waiter until the deadline; one that is not in the future makes it ready. At infinity it never is.
    void parkUntil(detail::Waiter* waiter, double deadline, TaskPriority priority) {
        if (deadline > now_) // false for NaN, which has no place in an order of deadlines
            timers_.park(waiter, deadline, priority);
        else
            ready_.push(waiter, priority);
    }

    /// Whether the running task should give way: more urgent work is ready, or its slice is used up.
    bool shouldYield() {
        if (ready_.hasMoreUrgentThan(ready_.priority())) [[unlikely]]
            return true;
        return --slice_ < 0 && sliceIsOver();
    }

private:
    FLOW_RARE void lookAtClock() noexcept;

protected:
    /// Becomes the current loop of this thread.
    Loop();
    /// Does not: what is derived from it says when it is.
    enum class NotCurrent {};
    explicit Loop(NotCurrent);
    /// For the destructors of the derived classes: what dies with the loop may still look at its clock.
    void end() noexcept;

    /// How many yields a task may skip before sliceIsOver() is asked.
    static constexpr int kSlice = 64;
    /// Tasks run between two looks at the clock.
    static constexpr int kTasksPerTurn = 64;

    /// Called when a turn begins, and by now() outside of run(): the time to use.
    virtual double startTurn() noexcept = 0;
    /// Nothing is ready and the earliest timer is at `deadline`: lets time pass until then. Infinity: there is none,
    /// and unless another thread may post, the answer is false, which ends run(). May return early.
    virtual bool idleUntil(double deadline) = 0;
    /// Whether some WorkGuard expects posts of other threads.
    bool isGuarded() const { return guards_ != 0; }
    /// Sleeps until something is posted, stop() is called or the poller has news, or for so long; may return early.
    /// Whether the poller was asked for news. Throws what Poller::prepare() throws.
    bool sleep(double seconds);
    /// Where this loop sleeps.
    Poller& poller() const { return *poller_; }
    /// From here on it sleeps there; null: at an eventfd again.
    void setPoller(Poller* poller) { poller_ = poller ? poller : &events_; }
    /// The slice counter ran out: true if the task must really give way; either way the counter is set again.
    virtual bool sliceIsOver() = 0;

    void resetSlice() { slice_ = kSlice; }

    double now_ = 0;
    /// In how many steps a turn may look for timers that have expired.
    int timerSteps_ = detail::TimerQueue::kNoLimit;

    /// One turn; false when nothing is left to do.
    virtual bool runTurn();
    /// The same with the tasks that next() takes; null: there is none.
    template <class Next>
    bool runTurnWith(Next&& next);
    /// The most urgent task that is ready, the first of its priority, which is the current one then; null: none is.
    detail::Waiter* takeReady() { return ready_.pop(); }
    /// A turn of a loop that another one drives, for which run() is not called.
    bool step();
    /// Whether this turn is one of step(), and not of a run() inside it.
    bool isDriven() const { return runs_ == 1; }

private:
    struct Service {
        void const* key;
        void* object;
    };

    void* find(void const* key) const;
    void provide(void const* key, void* object);
    void runUntilReady(detail::Cell* cell);
    void runUntil(detail::Cell* cell);
    bool waitForWork();
    void takeInbox();

    friend class WorkGuard;

    int slice_ = kSlice;
    std::atomic<bool> stopped_{false};
    std::atomic<bool> turnEnded_{false};
    int runs_ = 0; // runs under way on this loop: a task may start another
    int guards_ = 0;
    int expected_ = 0;
    detail::Link owned_;
    std::uint64_t tasks_ = 0;
    detail::Inbox inbox_;
    detail::EventPoller events_;
    Poller* poller_ = &events_; // a thread that finds this loop asleep sees it, since it is not set then
    detail::ReadyQueue ready_;
    detail::TimerQueue timers_;
    Loop* previous_;
    std::vector<Service> services_; // few
};

template <class Next>
bool Loop::runTurnWith(Next&& next) {
    turnEnded_.store(false, std::memory_order_relaxed);
    now_ = startTurn();
    resetSlice();
    if (!inbox_.isEmpty()) [[unlikely]]
        takeInbox();
    timers_.expire(now_, timerSteps_,
                   [this](detail::Waiter* waiter, TaskPriority priority) { ready_.push(waiter, priority); });
    for (int i = 0; i < kTasksPerTurn; ++i) {
        detail::Waiter* task = next();
        if (!task)
            return waitForWork();
        ++tasks_;
        detail::run(task);
        if (turnEnded_.load(std::memory_order_relaxed))
            break;
    }
    return true;
}

/// While one exists, its loop does not end for want of work: other threads may post some. Made and destroyed on the
/// loop's own thread, before the loop.
class WorkGuard {
public:
    explicit WorkGuard(Loop& loop) : loop_(loop) { ++loop_.guards_; }
    WorkGuard(WorkGuard const&) = delete;
    WorkGuard& operator=(WorkGuard const&) = delete;
    ~WorkGuard() { --loop_.guards_; }

private:
    Loop& loop_;
};

namespace detail {
inline constinit thread_local Loop* currentLoop = nullptr;

/// What loop() gives where there is none. While a thread ends, after its thread_local objects (the main thread: when
/// static objects are destroyed), actors may still be resumed by promises that break: they get a loop on which time
/// stands still and nothing ever runs. Earlier it is an assertion.
[[gnu::cold]] Loop& loopOfEndingThread();
/// Makes that possible on this thread.
void noteThreadHasLoop() noexcept;
} // namespace detail

/// The loop of this thread; there must be one.
inline Loop& loop() {
    Loop* current = detail::currentLoop;
    return current ? *current : detail::loopOfEndingThread();
}
inline bool hasLoop() {
    return detail::currentLoop != nullptr;
}

/// Seconds on the current loop's clock: the time of this turn.
inline double now() {
    return loop().now();
}
/// Seconds on the current loop's clock, read now.
inline double timer() {
    return loop().timer();
}

} // namespace flow
