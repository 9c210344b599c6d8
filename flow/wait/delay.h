#pragma once
// delay and yield: suspend for a time, or for one turn of others.
//
//     wait(delay(0.5));                            // actors
//     co_await delay(0.5, TaskPriority::Low);      // coroutines
//     Future<Void> alarm = delay(5.0);             // keep it, combine it, drop it to cancel
//     co_await yield();                            // in long computations
//
// Awaited in place, neither allocates: the waiting frame itself is in the queue (a real deadline takes a slot in the
// timer queue). Turned into a Future<Void>, a delay allocates one block. The deadline is fixed when delay() is called,
// from now(): in a turn that takes long, the delay is counted from the turn's beginning. Cancel-safe: a waiter that is
// cancelled leaves the queue at once.

#include "flow/loop/loop.h"

#include <cmath>
#include <limits>

namespace flow {

/// A time to wait for, not yet waited for. A value: nothing happens until it is awaited or becomes a Future.
class [[nodiscard]] Delay {
public:
    Delay(double deadline, TaskPriority priority) : deadline_(deadline), priority_(priority) {}

    /// On the loop's clock; minus infinity for delay(0) and less.
    double deadline() const { return deadline_; }
    TaskPriority priority() const { return priority_; }
    operator Future<Void>() const;

private:
    double deadline_;
    TaskPriority priority_;
};

/// A turn for other steps, not yet waited for.
class [[nodiscard]] Yield {
public:
    explicit Yield(TaskPriority priority) : priority_(priority) {}

    TaskPriority priority() const { return priority_; }
    operator Future<Void>() const;

private:
    TaskPriority priority_;
};

/// Continues `seconds` later at the given priority; where that is less than the clock can show, at the next time that
/// it can. 0 or less: behind the steps that are ready at that priority now.
inline Delay delay(double seconds, TaskPriority priority = TaskPriority::DefaultDelay) {
    if (seconds > 0) {
        double now = Loop::current().now(), deadline = now + seconds;
        if (deadline == now) [[unlikely]] // so that a program that waits for a time in small steps comes to it
            deadline = std::nextafter(now, std::numeric_limits<double>::infinity());
        return {deadline, priority};
    }
    return {-std::numeric_limits<double>::infinity(), priority}; // does not read the clock
}
/// Continues at `time` on the loop's clock, or as delay(0) if that has passed.
inline Delay delayUntil(double time, TaskPriority priority = TaskPriority::DefaultDelay) {
    return {time, priority};
}

/// Like delay(): timers with one deadline fire in the order in which they were set.
inline Delay orderedDelay(double seconds, TaskPriority priority = TaskPriority::DefaultDelay) {
    return delay(seconds, priority);
}

/// True if yield() would let other steps run. Each call uses up a part of the running step's slice.
inline bool check_yield() {
    return Loop::current().shouldYield();
}

/// Ready at once unless more urgent work is ready or the running step's slice is used up; then as delay(0).
inline Yield yield(TaskPriority priority = TaskPriority::DefaultYield) {
    return Yield(priority);
}

} // namespace flow
