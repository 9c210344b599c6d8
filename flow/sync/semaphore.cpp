#include "flow/sync/semaphore.h"

#include "flow/base/format.h"

#include <algorithm>

namespace flow {

// The inline functions in the header handle a Semaphore without waiters: `free_` holds the permits. When the first
// waiter parks, queue() moves all permits to `passed_`. endQueue() moves them back when there is no waiter left.
//
// Released permits stay in `passed_` until waiters take them. wakeInTurn() resumes the first waiters in turns of the
// loop, as far as the permits suffice: these permits are on their way. If such a waiter leaves before its turn, its
// permits are on their way to the waiters behind it, so no permit is lost.

void Semaphore::queue() {
    if (free_ != kQueued)
        passed_ = std::exchange(free_, kQueued);
}

void Semaphore::endQueue() {
    if (free_ == kQueued && !waiting_.isWaitedFor() && !isClosed())
        free_ = passed_;
}

bool Semaphore::suffices(std::int64_t free, Acquire const& op) const {
    std::size_t needed = kind_ == Kind::FlowLock ? std::min(op.permits, static_cast<std::size_t>(all_)) : op.permits;
    return free >= 0 && needed <= static_cast<std::size_t>(free);
}

bool Semaphore::admits(Acquire const& op) {
    if (isClosed())
        return true;
    endQueue();
    if (free_ != kQueued || &waiting_.first() == &op)
        return suffices(permits(), op);
    return order_ == Order::WhatFits && suffices(available(), op);
}

void Semaphore::park(WaiterNode& waiter, Acquire& op) {
    queue();
    priority_ = waiting_.isWaitedFor() ? std::max(priority_, op.priority) : op.priority;
    if (op.permits != 1) // if it leaves, its permits may suffice for the waiters behind it
        waiting_.wakeWhenFirstLeaves(priority_);
    waiting_.park(waiter, op);
}

void Semaphore::takeQueued(std::size_t permits) {
    if (isClosed())
        throw error_;
    (free_ != kQueued ? free_ : passed_) -= static_cast<std::int64_t>(permits);
}

void Semaphore::releaseQueued(std::size_t permits) {
    passed_ += static_cast<std::int64_t>(permits);
    endQueue();
    waiting_.wakeInTurn(priority_);
}

Semaphore::OnTheirWay Semaphore::onTheirWay() const {
    OnTheirWay passed;
    if (!hasLoop()) // waiters that outlive their loop never resume
        return passed;
    waiting_.forEach([&](Acquire const& op) {
        if (!suffices(permits() - passed.permits, op))
            return false;
        passed.permits += static_cast<std::int64_t>(op.permits);
        ++passed.waiters;
        return true;
    });
    return passed;
}

void Semaphore::close(Error first, Error others) {
    if (isClosed())
        return;
    queue();
    error_ = others;
    waiting_.failAll(first, others);
}

std::size_t Semaphore::waiters() const {
    std::size_t count = 0;
    waiting_.forEach([&](Acquire const&) { return ++count != 0; });
    return count - onTheirWay().waiters;
}

void Semaphore::describe(Acquire const& op, Description& out) const {
    bool isMutex = kind_ == Kind::Mutex || kind_ == Kind::SharedMutex;
    if (kind_ == Kind::Mutex)
        out.text = "a Mutex";
    else if (kind_ == Kind::SharedMutex)
        out.text = op.permits == 1 ? "a SharedMutex, as a reader" : "a SharedMutex, as the writer";
    else if (op.permits == 1)
        out.text = kind_ == Kind::FlowLock ? "a permit of a FlowLock" : "a permit of a Semaphore";
    else
        out.text = format("%zu permits of a %s", op.permits, kind_ == Kind::FlowLock ? "FlowLock" : "Semaphore");
    bool hasMarks = held_ != 0 || isMutex;
    out.lock = hasMarks ? reinterpret_cast<void const*>(mark()) : this;
    if (hasMarks)
        out.mostHeld = 1;
    else if (kind_ == Kind::FlowLock)
        out.mostHeld = all_ - permits();
}

} // namespace flow
