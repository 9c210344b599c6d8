#pragma once
// Trigger: an event that can happen again and again. Any number of tasks can wait for the next time.
//
//     Trigger changed;
//     co_await changed.next();          // until the next call of trigger()
//     changed.trigger();                // all waiters resume, oldest first, in turns of the loop
//
// next() returns an operation in place, for actors, coroutines and fibers. It is ready if trigger() has been called
// after next(). To lose no change, call next() before you test the state that may change:
//
//     for (auto change = changed.next(); !isDone(); change = changed.next())
//         co_await change;
//
// A Trigger belongs to one thread. Its destructor fails its waiters with broken_promise, also waiters that trigger()
// has woken, if they have not resumed yet. Use an Event for a state, and an AsyncVar for a value.

#include "flow/wait/source.h"

#include <cstdint>

namespace flow {

class Trigger {
public:
    struct Next {
        using Result = Void;
        static constexpr bool kEndsOnce = true;
        Trigger* trigger;
        std::uint64_t seen;

        bool isReady() const { return trigger->count_ != seen; }
        void park(WaiterNode& waiter) { trigger->waiting_.park(waiter, *this); }
        Void take() const { return Void(); }
        void describe(Description& out) const { out.text = "a Trigger"; }
    };

    /// Returns an operation that is ready after the next call of trigger().
    Next next() { return {this, count_}; }
    /// Wakes all waiters. They resume in later turns, at this priority.
    void trigger(TaskPriority priority = TaskPriority::DefaultYield) {
        ++count_;
        waiting_.wakeInTurn(priority);
    }
    /// Fails the waiters with the error, inside this call. They may destroy the Trigger: do not use it afterwards.
    void fail(Error error) { waiting_.failAll(error); }
    bool isAwaited() const { return waiting_.isWaitedFor(); }

private:
    std::uint64_t count_ = 0; // the number of calls of trigger()
    Source<Next> waiting_;
};

} // namespace flow
