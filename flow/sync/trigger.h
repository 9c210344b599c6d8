#pragma once
// Trigger: a moment, for which any number of tasks can wait, again and again.
//
//     Trigger changed;
//     co_await changed.next();          // until trigger() is called, from now on
//     changed.trigger();                // all of them resume, oldest first, in turns of the loop
//
// next() is an operation in place, for every style; it is ready if trigger() has been called since next() was: so take
// it before you test what may change, and no change is lost.
//
//     for (auto change = changed.next(); !isDone(); change = changed.next())
//         co_await change;
//
// Belongs to one thread. Waiters that are left when it is destroyed get broken_promise, also those whose turn had not
// come yet. Use an Event for a state, and an AsyncVar for a value.

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

    /// Ready at the next trigger().
    Next next() { return {this, count_}; }
    /// The waiters resume at this priority.
    void trigger(TaskPriority priority = TaskPriority::DefaultYield) {
        ++count_;
        waiting_.wakeInTurn(priority);
    }
    /// Fails the waiters with the error before it returns. Must be the last act of the caller.
    void fail(Error error) { waiting_.failAll(error); }
    /// True if something waits for it.
    bool isAwaited() const { return waiting_.isWaitedFor(); }

private:
    std::uint64_t count_ = 0; // of calls of trigger()
    Source<Next> waiting_;
};

} // namespace flow
