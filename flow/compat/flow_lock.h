#pragma once
// FlowLock: Flow's name for a Semaphore that gives free permits to any take() for which they suffice.
//
//     FlowLock lock(2);                               // two at a time
//     wait(lock.take());
//     state FlowLock::Releaser releaser(lock);        // its destructor releases the permit
//
// A ready future of take() stands for the permit, until release() or the end of a Releaser: make the Releaser directly
// after the wait. Cancel-safe: a take that is dropped before it is ready releases its permits.
//
// A take that fits into the free permits gets them at once, even if takes of more permits wait: so a holder can take
// one more permit. But a take of many permits may wait for as long as smaller takes arrive. Waiting takes get their
// permits in the order of their calls. With FlowLock(3, FlowLock::Order::FirstComeFirstServed) no take overtakes a
// waiting one; a holder that takes more from this lock may wait forever.
//
// take() is ready at once if it need not wait. Otherwise its permit arrives through the loop, at the priority of
// take(), or of a more urgent take that waits: release() runs no waiter. The lock must outlive its Releasers.

#include "flow/combine/map.h"
#include "flow/coro/coroutine.h"
#include "flow/memory/reference.h"
#include "flow/sync/semaphore.h"

#include <algorithm>
#include <cstdint>
#include <source_location>

namespace flow {

/// The Semaphore must be the first base: a report finds the Releasers by the address of the lock in them.
class FlowLock : Semaphore, public ReferenceCounted<FlowLock> {
public:
    class Releaser;
    using Semaphore::Order, Semaphore::available;

    explicit FlowLock(std::int64_t permits = 1, Order order = Order::WhatFits)
        : Semaphore(static_cast<std::size_t>(std::max<std::int64_t>(permits, 0)), order, Kind::FlowLock),
          permits_(Semaphore::permits()) {}

    /// Takes `amount` permits when they are free. An amount above the number of permits is granted when all are free.
    [[nodiscard]] Future<Void> take(TaskPriority priority = TaskPriority::DefaultYield, std::int64_t amount = 1,
                                    std::source_location caller = std::source_location::current()) {
        FLOW_ASSERT_AT(caller, amount >= 0, "FlowLock::take() of a negative amount");
        if (isClosed())
            return error();
        Acquire op = acquire(static_cast<std::size_t>(amount), priority);
        if (!op.isReady())
            return keep(op);
        Future<Void> taken = Void(); // first, because it may throw
        op.take();
        return taken;
    }
    /// Takes a permit when one is free, and up to `amount` - 1 further free ones. Sets `amount` to the number taken.
    [[nodiscard]] Future<Void> takeUpTo(std::int64_t& amount) {
        return map(take(), [this, &amount](Void) {
            std::int64_t more = std::max<std::int64_t>(std::min(available(), amount - 1), 0);
            acquire(static_cast<std::size_t>(more)).take();
            amount = more + 1;
        });
    }
    /// Releases permits.
    void release(std::int64_t amount = 1, std::source_location caller = std::source_location::current()) {
        // not activePermits(): no caller holds permits that are on their way, and it takes longer to count them
        FLOW_ASSERT_AT(caller, amount >= 0 && amount <= permits_ - Semaphore::permits(),
                       "FlowLock::release() of more than has been taken");
        Semaphore::release(static_cast<std::size_t>(amount));
    }
    /// Releases permits when the signal is ready, with a value or an error, or when the result is dropped.
    [[nodiscard]] Future<Void> releaseWhen(Future<Void> signal, std::int64_t amount = 1);

    /// Fails the waiters and all later takes with `error`.
    void kill(Error error = broken_promise()) { close(error); }
    /// Like kill(error), but the oldest waiter fails with `first` and all others with `others`.
    void kill(Error first, Error others) { close(first, others); }

    std::int64_t permits() const { return permits_; }
    /// Returns the number of permits in use. This includes permits that a woken waiter takes in its turn.
    std::int64_t activePermits() const { return permits_ - available(); }
    /// Returns the number of takes that wait.
    std::int64_t waiters() const { return static_cast<std::int64_t>(Semaphore::waiters()); }

private:
    std::int64_t permits_;
};

/// Holds permits that have been taken: the destructor releases them.
class FlowLock::Releaser {
public:
    Releaser() = default;
    explicit Releaser(FlowLock& taken, std::int64_t amount = 1) : lock(&taken), remaining(amount) {}
    Releaser(Releaser&& other) noexcept
        : lock(std::exchange(other.lock, nullptr)), remaining(std::exchange(other.remaining, 0)) {}
    Releaser& operator=(Releaser&& other) noexcept {
        Releaser taken(std::move(other));
        std::swap(lock, taken.lock);
        std::swap(remaining, taken.remaining);
        return *this;
    }
    ~Releaser() { release(); }

    /// Releases `amount` of the remaining permits; all of them by default.
    void release(std::int64_t amount = -1) {
        if (!lock)
            return;
        std::int64_t given = amount < 0 || amount > remaining ? remaining : amount;
        remaining -= given;
        FlowLock* where = remaining == 0 ? std::exchange(lock, nullptr) : lock;
        where->release(given);
    }

    FlowLock* lock = nullptr;
    std::int64_t remaining = 0;
};

inline Future<Void> FlowLock::releaseWhen(Future<Void> signal, std::int64_t amount) {
    Releaser releaser(*this, amount);
    (void)co_await tryGet(std::move(signal));
}

} // namespace flow
