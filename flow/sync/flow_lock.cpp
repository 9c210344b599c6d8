#include "flow/sync/flow_lock.h"

#include "flow/base/format.h"
#include "flow/base/inline.h"
#include "flow/combine/map.h"
#include "flow/core/operation.h"
#include "flow/coro/coroutine.h"

#include <algorithm>

namespace flow {

/// A take that has to wait: in the list of the lock, and from the grant on in the queue of the loop as well.
struct FlowLock::Taker : Operation<Taker, Void>, ListLink {
    Taker(FlowLock& l, TaskPriority p, std::int64_t a) : lock(&l), amount(a), priority(p) {
        pushBack(lock->waiting_, *this);
        ++lock->waiters_;
    }
    /// If it is still in a list, it is being cancelled.
    ~Taker() {
        if (!isLinked())
            return;
        leave();
        lock->release(granted ? amount : 0); // with 0: takes behind this one may fit although this one did not
    }
    FLOW_INLINE void leave() {
        unlink();
        if (!granted)
            --lock->waiters_;
    }
    FLOW_INLINE void grant() {
        leave();
        granted = true;
        lock->active_ += amount;
        pushBack(lock->granted_, *this);
        Loop::current().makeReady(turn(), priority);
    }
    FLOW_INLINE WaiterNode* onTurn() {
        unlink();
        return completed();
    }
    using Operation::fail, Operation::leaveQueue;
    void describe(Description& out) const {
        out.text = format("%lld of %lld permits of a lock", static_cast<long long>(amount),
                          static_cast<long long>(lock->permits_));
        out.lock = lock;
        out.mostHeld = lock->active_;
    }

    FlowLock* lock;
    std::int64_t amount;
    TaskPriority priority;
    bool granted = false;
};

Future<Void> FlowLock::take(TaskPriority priority, std::int64_t amount, std::source_location caller) {
    FLOW_ASSERT_AT(caller, amount >= 0, "FlowLock::take() of a negative amount");
    if (killed_.isValid())
        return killed_;
    if (!fits(amount) || (order_ == Order::FirstComeFirstServed && !waiting_.isEmpty()))
        return start<Taker>(*this, priority, amount);
    Future<Void> taken = Void(); // first, since it may throw
    active_ += amount;
    return taken;
}

Future<Void> FlowLock::takeUpTo(std::int64_t& amount) {
    return map(take(), [this, &amount](Void) {
        std::int64_t more = std::max<std::int64_t>(std::min(available(), amount - 1), 0);
        active_ += more;
        amount = more + 1;
    });
}

void FlowLock::release(std::int64_t amount, std::source_location caller) {
    FLOW_ASSERT_AT(caller, amount >= 0 && amount <= active_, "FlowLock::release() of more than has been taken");
    active_ -= amount;
    grant();
}

void FlowLock::grant() {
    while (!waiting_.isEmpty() && hasLoop()) { // waiters that outlive their loop are only cancelled
        auto* taker = static_cast<Taker*>(waiting_.next);
        if (!fits(taker->amount))
            return;
        taker->grant();
    }
}

Future<Void> FlowLock::releaseWhen(Future<Void> signal, std::int64_t amount) {
    Releaser releaser(*this, amount);
    (void)co_await tryGet(std::move(signal));
}

void FlowLock::kill(Error first, Error others) {
    if (killed_.isValid())
        return;
    killed_ = others;
    ListLink failing; // local, since code of the waiters that fail may destroy the lock
    failing.reset();
    for (ListLink* list : {&granted_, &waiting_})
        while (!list->isEmpty()) {
            auto* taker = static_cast<Taker*>(list->next);
            taker->leave();
            if (taker->granted)
                active_ -= taker->amount;
            taker->leaveQueue();
            pushBack(failing, *taker);
        }
    while (!failing.isEmpty()) {
        auto* taker = static_cast<Taker*>(failing.next);
        taker->unlink();
        taker->fail(std::exchange(first, others));
    }
}

void FlowLock::Releaser::release(std::int64_t amount) {
    if (!lock)
        return;
    std::int64_t given = amount < 0 || amount > remaining ? remaining : amount;
    remaining -= given;
    FlowLock* where = remaining == 0 ? std::exchange(lock, nullptr) : lock;
    where->release(given);
}

} // namespace flow
