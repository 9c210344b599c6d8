#pragma once
// TimedSource<Op>: the list of waiters for operations that become ready at a time, oldest first.
//
//     struct Next {                                                    // an operation in place
//         ...
//         bool isReady() const { return ticks->waiting_.isReady(*this); }
//         void park(WaiterNode& waiter) { ticks->waiting_.park(waiter, *this); }
//         double readyAt() const { return ticks->due_; }               // on the loop's clock
//     };
//     TimedSource<Next> waiting_;
//
// An operation is ready if no other operation waits before it and its readyAt() is not in the future. While it waits,
// only take() of another operation may change its readyAt(). The source sets one timer, for its first waiter. If the
// last waiter leaves, this timer stays until its time, or until the source is destroyed. See also flow/wait/source.h.

#include "flow/loop/turn.h"
#include "flow/wait/source.h"

namespace flow {

template <class Op>
class TimedSource : Turn {
public:
    TimedSource() : Turn([](Turn& self) { static_cast<TimedSource&>(self).waiting_.wakeInTurn(kPriority); }) {}

    bool isReady(Op const& op) {
        if (!waiting_.isNext(op))
            return false;
        double time = op.readyAt();
        if (time <= now())
            return true;
        if (waiting_.isWaitedFor()) // `op` waits, and has become the first
            setTimer(time);
        return false;
    }
    void park(WaiterNode& waiter, Op& op) {
        if (!waiting_.isWaitedFor())
            setTimer(op.readyAt());
        waiting_.wakeWhenFirstLeaves(kPriority); // the next operation may be ready earlier
        waiting_.park(waiter, op);
    }

private:
    static constexpr TaskPriority kPriority = TaskPriority::DefaultDelay;

    void setTimer(double time) {
        takeBack();
        askAt(time, kPriority);
    }

    Source<Op> waiting_;
};

} // namespace flow
