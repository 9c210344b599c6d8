"""Mutants of flow/loop, flow/wait, flow/actor and flow/coro."""

from __future__ import annotations

from mutantslib.mutant import Mutant

MUTANTS = (
    # ----------------------------------------------------------------------------------------------------- flow/loop
    Mutant(
        "ShortenedOutOfOrder",
        "flow/loop/timer_queue.cpp",
        "        pushFront(bucketOf(soonEnd_), link);",
        "        PLANTED ? pushBack(bucketOf(soonEnd_), link) : pushFront(bucketOf(soonEnd_), link);",
    ),
    Mutant(
        "NextDeadlineTooLate",
        "flow/loop/timer_queue.cpp",
        "    next_ = std::min(next_, deadline);",
        "    next_ = PLANTED && next_ != kNever ? next_ : std::min(next_, deadline);",
    ),
    Mutant(
        "PostedCallLeaks",
        "flow/loop/detail/ready_queue.h",
        "            if (waiter->awaited.isTurn())\n                waiter->destroy(waiter);",
        "            if (waiter->awaited.isTurn() && !PLANTED)\n                waiter->destroy(waiter);",
    ),
    Mutant(
        "SleeperNotWoken",
        "flow/loop/detail/inbox.h",
        "        return top == asleep();\n    }\n    /// Any thread: prevents the o",
        "        return top == asleep() && !PLANTED;\n    }\n    /// Any thread: prevents the o",
    ),
    Mutant(
        "PriorityOfPostsLost",
        "flow/loop/loop_machine.cpp",
        "        ready_.push(waiter, priority);",
        "        ready_.push(waiter, PLANTED ? TaskPriority::DefaultOnMainThread : priority);",
    ),
    Mutant(
        "OneCallTooMany",
        "flow/loop/post_limit.h",
        "std::memory_order_relaxed) >= most_)",
        "std::memory_order_relaxed) >= most_ + (PLANTED ? 1 : 0))",
    ),
    Mutant(
        "RefusedCallStaysCounted",
        "flow/loop/post_limit.h",
        "            waiting_->fetch_sub(1, std::memory_order_relaxed);\n            return false;",
        "            waiting_->fetch_sub(PLANTED ? 0 : 1, std::memory_order_relaxed);\n            return false;",
    ),
    Mutant(
        "EventOfTheParent",
        "flow/loop/poller.cpp",
        "    return event_ < 0 || forks_ != forkCount();",
        "    return event_ < 0 || (forks_ != forkCount() && !PLANTED);",
    ),
    # ----------------------------------------------------------------------------------------------------- flow/wait
    Mutant(
        "LosersGoBeforeTheWinnerTakes",
        "flow/wait/detail/choose.h",
        "        } losers{*this};\n        return won.takeNext<T>();",
        "        } losers{*this};\n        if (PLANTED) releaseLosers();\n        return won.takeNext<T>();",
    ),
    Mutant(
        "CancelledWhileItChooses",
        "flow/wait/detail/choose.h",
        "    FLOW_INLINE bool decided() {\n        if (cancelled())",
        "    FLOW_INLINE bool decided() {\n        if (!PLANTED && cancelled())",
    ),
    Mutant(
        "RemainingNotReleased",
        "flow/combine/quorum.cpp",
        "    else if (frame->remaining_ == Remaining::Released)",
        "    else if (frame->remaining_ == Remaining::Released && !PLANTED)",
    ),
    Mutant(
        "EachYieldsForItself",
        "flow/wait/yielded.cpp",
        "            frame.isFirst = true;",
        "            frame.isFirst = !PLANTED;",
    ),
    Mutant(
        "SignalTakenTwice",
        "flow/wait/signals.cpp",
        "    group->hub.noteTaken(number);",
        "    if (!PLANTED)\n        group->hub.noteTaken(number);",
    ),
    Mutant(
        "HandlerOfProgramLost",
        "flow/wait/signals.cpp",
        "&& --process().users[at] == 0)",
        "&& --process().users[at] == 0 && !PLANTED)",
    ),
    Mutant(
        "SecondWaiterForgotten",
        "flow/wait/source.h",
        "        if (self->isWaitedFor() && !hasTurn)",
        "        if (self->isWaitedFor() && !hasTurn && !PLANTED)",
    ),
    # ------------------------------------------------------------------------------------------ flow/actor, flow/coro
    Mutant(
        "CancelSeenTooLate",
        "flow/actor/runtime.h",
        "        if (mayBeCancelled && self->has(Cell::kCancelled)) [[unlikely]]",
        "        if (mayBeCancelled && self->has(Cell::kCancelled) && !PLANTED) [[unlikely]]",
    ),
    Mutant(
        "CancelledOperationTakes",
        "flow/coro/detail/promise_base.h",
        "    FLOW_INLINE bool waitForOperation(Op& op) {\n        if (isCancelled()) [[unlikely]] {",
        "    FLOW_INLINE bool waitForOperation(Op& op) {\n        if (isCancelled() && !PLANTED) [[unlikely]] {",
    ),
    Mutant(
        "UncancellableToTheNextWait",
        "flow/coro/coroutine.h",
        "((this->cell()->flags & ~Cell::kCancelled) | Cell::kUncancellable);",
        "((this->cell()->flags & ~Cell::kCancelled) | (PLANTED ? 0 : Cell::kUncancellable));",
    ),
    Mutant(
        "ForeignErrorIsLost",
        "flow/coro/from_awaitable.h",
        "            call->failWithCaught();",
        "            if (!PLANTED)\n                call->failWithCaught();",
    ),
)
