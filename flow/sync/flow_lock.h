#pragma once
// FlowLock: a number of permits.
//
//     FlowLock lock(2);                               // two at a time
//     wait(lock.take());
//     state FlowLock::Releaser releaser(lock);        // its destructor returns the permit
//
// When the future of take() is ready, the holder of that future holds the permit, until release() or the end of a
// Releaser. Do not wait between the wait for take() and the making of the Releaser. Cancel-safe: a take that is dropped
// or cancelled before gives back any permits that it has got, and the takes behind it move up.
//
// A take that fits into the free permits gets them at once, even if takes of more permits wait: a holder that takes one
// more does not wait behind them. So a take of many permits may wait for as long as smaller takes arrive. Takes that
// wait get their permits in the order in which they came. With FlowLock(3, FlowLock::Order::FirstComeFirstServed) no
// take overtakes one that waits; a holder that takes more from such a lock may wait forever.
//
// A free permit is taken at once. A permit that was waited for arrives through the loop, at the priority given to
// take(): release() runs no waiter. The lock must outlive its Releasers; a Reference<FlowLock> may hold it.

#include "flow/core/future.h"
#include "flow/loop/priority.h"
#include "flow/memory/reference.h"

#include <cstdint>
#include <source_location>

namespace flow {

class FlowLock : public ReferenceCounted<FlowLock> {
public:
    class Releaser;
    /// The takes that may get free permits: any that fits, or only the one that waits longest.
    enum class Order : bool { WhatFits, FirstComeFirstServed };

    explicit FlowLock(std::int64_t permits = 1, Order order = Order::WhatFits) : permits_(permits), order_(order) {
        waiting_.reset();
        granted_.reset();
    }
    FlowLock(FlowLock const&) = delete;
    FlowLock& operator=(FlowLock const&) = delete;
    /// Fails the waiters with broken_promise.
    ~FlowLock() { kill(); }

    /// Ready when `amount` permits are free, which are then taken. An amount above the number of permits is granted
    /// when all are free.
    [[nodiscard]] Future<Void> take(TaskPriority priority = TaskPriority::DefaultYield, std::int64_t amount = 1,
                                    std::source_location caller = std::source_location::current());
    /// Ready when a permit is free. Takes that permit, and up to `amount` - 1 more that are free then, and sets
    /// `amount` to the number taken.
    [[nodiscard]] Future<Void> takeUpTo(std::int64_t& amount);
    /// Gives permits back.
    void release(std::int64_t amount = 1, std::source_location caller = std::source_location::current());
    /// Gives permits back when the signal is ready, with a value or an error, or when the result is dropped.
    [[nodiscard]] Future<Void> releaseWhen(Future<Void> signal, std::int64_t amount = 1);

    /// Fails the waiters, and all later ones, with the error.
    void kill(Error error = broken_promise()) { kill(error, error); }
    /// Like kill(error), but the longest waiter fails with `first` and all others with `others`.
    void kill(Error first, Error others);

    std::int64_t permits() const { return permits_; }
    /// Permits in use, with the permits of a grant that is still on its way.
    std::int64_t activePermits() const { return active_; }
    /// The free permits. Negative while a take holds more permits than the lock has.
    std::int64_t available() const { return permits_ - active_; }
    /// The number of takes that wait.
    std::int64_t waiters() const { return waiters_; }

private:
    struct Taker;
    bool fits(std::int64_t amount) const { return amount <= permits_ - active_ || active_ == 0; }
    void grant();

    std::int64_t permits_;
    Order order_;
    std::int64_t active_ = 0;
    std::int64_t waiters_ = 0;
    Error killed_;
    ListLink waiting_; // Takers, oldest first
    ListLink granted_; // Takers that the loop is about to run
};

/// Its destructor returns permits that have been taken.
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

    /// Gives back `amount` of the remaining permits; all of them by default.
    void release(std::int64_t amount = -1);

    FlowLock* lock = nullptr;
    std::int64_t remaining = 0;
};

} // namespace flow
