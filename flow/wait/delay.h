#pragma once
// delay and yield: wait for a time, or let other steps run first.
//
//     wait(delay(0.5));                            // actors
//     co_await delay(0.5, TaskPriority::Low);      // coroutines
//     Future<Void> alarm = delay(5.0);             // keep it, combine it, drop it to cancel
//     co_await yield();                            // in long computations
//
// A wait for a Delay or a Yield allocates no block: the waiting frame itself is in the queue. Only a deadline takes a
// slot in the timer queue. A delay that becomes a Future<Void> allocates one block. delay() fixes the deadline, counted
// from now(): the beginning of the turn. Cancel-safe: a waiter that is cancelled leaves the queue immediately.

#include "flow/base/seconds.h"
#include "flow/loop/loop.h"

#include <cmath>
#include <limits>

namespace flow {

/// A delay that has not begun to wait. It is only a value: nothing happens until it is awaited or becomes a Future.
class [[nodiscard]] Delay {
public:
    Delay(double deadline, TaskPriority priority) : deadline_(deadline), priority_(priority) {}

    /// Returns the deadline on the loop's clock; minus infinity for delay(0) and less.
    double deadline() const { return deadline_; }
    TaskPriority priority() const { return priority_; }
    operator Future<Void>() const;

private:
    double deadline_;
    TaskPriority priority_;
};

class [[nodiscard]] Yield {
public:
    explicit Yield(TaskPriority priority) : priority_(priority) {}

    TaskPriority priority() const { return priority_; }
    operator Future<Void>() const;

private:
    TaskPriority priority_;
};

/// Waits for `seconds`, and continues at the given priority. A positive time that is less than the smallest step of the
/// clock counts as that step. With 0 or less, continues behind the steps that are ready now at that priority.
inline Delay delay(Seconds seconds, TaskPriority priority = TaskPriority::DefaultDelay) {
    if (seconds > 0) {
        double now = Loop::current().now(), deadline = now + seconds;
        if (deadline == now) [[unlikely]] // so that time passes even in many very short waits
            deadline = std::nextafter(now, std::numeric_limits<double>::infinity());
        return {deadline, priority};
    }
    return {-std::numeric_limits<double>::infinity(), priority}; // does not read the clock
}
/// Waits until `time` on the loop's clock. If this time has passed, waits as delay(0) does.
inline Delay delayUntil(double time, TaskPriority priority = TaskPriority::DefaultDelay) {
    return {time, priority};
}

/// Like delay(). Timers with the same deadline fire in the order in which they were set.
inline Delay orderedDelay(Seconds seconds, TaskPriority priority = TaskPriority::DefaultDelay) {
    return delay(seconds, priority);
}

/// Returns true if yield() would let other steps run. Each call uses up a part of the running step's time slice.
inline bool check_yield() {
    return Loop::current().shouldYield();
}

/// Waits as delay(0) does if more urgent work is ready or the step's time slice is used up. Otherwise does not wait.
inline Yield yield(TaskPriority priority = TaskPriority::DefaultYield) {
    return Yield(priority);
}

} // namespace flow
