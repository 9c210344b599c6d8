#include "flow/lib/flow_lock.h"

#include "flow/coro/coroutine.h"

namespace flow {

using namespace detail;

/// The frame of a take that has to wait. Until it is granted it counts as parked, linked to itself, so that a cancel
/// resumes it; then it stands in the loop's ready queue.
struct FlowLock::Taker {
    Waiter waiter; // first: a Waiter of a lock is its Taker
    Link place;    // in the lock's list
    FlowLock* lock;
    std::int64_t amount;
    TaskPriority priority;
    bool granted;

    static Taker* of(Waiter* waiter) { return reinterpret_cast<Taker*>(waiter); }
    static Taker* at(Link* place) {
        return reinterpret_cast<Taker*>(reinterpret_cast<char*>(place) - offsetof(Taker, place));
    }

    static Future<Void> create(FlowLock* lock, TaskPriority priority, std::int64_t amount) {
        Cell* cell = newCell<Void>(sizeof(Taker), 1, 1, Cell::kHasFrame);
        Taker* taker = of(cell->frame());
        taker->waiter.resume = resumeTaker;
        taker->waiter.destroy = nullptr;
        taker->waiter.link.reset();
        taker->waiter.awaited = {};
        taker->lock = lock;
        taker->amount = amount;
        taker->priority = priority;
        taker->granted = false;
        pushBack(lock->waiting_, taker->place);
        return Future<Void>::adopt(cell);
    }

    /// Out of the lock: granted and run by the loop, or cancelled.
    static void resumeTaker(Waiter* waiter) {
        Taker* taker = of(waiter);
        Error error;
        if (Cell* cancelled = waiter->awaited.cell()) {
            waiter->awaited = {};
            releaseFuture(cancelled);
            error = actor_cancelled();
        }
        taker->leave(error.isValid());
        if (Waiter* last = taker->finish(error))
            FLOW_HAND_OVER(last);
    }

    void leave(bool givesBack) {
        place.unlink();
        if (!granted)
            --lock->waiters_;
        if (givesBack)
            lock->release(granted ? amount : 0); // with 0: those behind may fit where this one did not
    }

    Waiter* finish(Error error) {
        Cell* cell = Cell::of(&waiter);
        cell->error = error;
        return finishFrame<Void>(cell, error.isValid() ? Cell::kError : Cell::kValue);
    }
};

Future<Void> FlowLock::take(TaskPriority priority, std::int64_t amount) {
    FLOW_ASSERT(amount >= 0, "FlowLock::take() of a negative amount");
    if (killed_.isValid())
        return killed_;
    if (!fits(amount) || (order_ == Order::FirstComeFirstServed && !waiting_.isEmpty())) {
        Future<Void> result = Taker::create(this, priority, amount);
        ++waiters_;
        return result;
    }
    Future<Void> taken = Void(); // first, since it may throw
    active_ += amount;
    return taken;
}

void FlowLock::release(std::int64_t amount) {
    FLOW_ASSERT(amount >= 0 && amount <= active_, "FlowLock::release() of more than has been taken");
    active_ -= amount;
    grant();
}

void FlowLock::grant() {
    while (!waiting_.isEmpty() && hasLoop()) { // those who outlive their loop are only cancelled
        Taker* taker = Taker::at(waiting_.next);
        if (!fits(taker->amount))
            return;
        active_ += taker->amount;
        --waiters_;
        taker->granted = true;
        taker->place.unlink();
        pushBack(granted_, taker->place);
        taker->waiter.link.unlink();
        loop().makeReady(&taker->waiter, taker->priority);
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
    Link failing; // what runs in the course of this may destroy the lock
    failing.reset();
    for (Link* list : {&granted_, &waiting_})
        while (!list->isEmpty()) {
            Taker* taker = Taker::at(list->next);
            if (taker->granted)
                active_ -= taker->amount;
            else
                --waiters_;
            taker->place.unlink();
            detach(&taker->waiter);
            pushBack(failing, taker->place);
        }
    while (!failing.isEmpty()) {
        Taker* taker = Taker::at(failing.next);
        taker->place.unlink();
        if (Waiter* last = taker->finish(std::exchange(first, others)))
            run(last);
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
