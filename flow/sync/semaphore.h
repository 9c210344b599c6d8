#pragma once
// Semaphore: a number of permits, from zero on. Mutex: a Semaphore with one permit, which its holder gives back.
//
//     Semaphore places(100);
//     Semaphore::Permit place = co_await places.permit();   // given back at the end of the block, or by a cancel
//
//     Semaphore arrived(0);
//     co_await arrived.acquire();                           // suspends until there is a permit
//     arrived.release();                                    // by anyone; at once, and waiters resume later
//
//     Semaphore memory(1 << 20);
//     Semaphore::Permit room = co_await memory.permit(message.size());   // so many at once
//
//     Mutex mutex;
//     {
//         Mutex::Lock lock = co_await mutex.lock();
//         ...                                               // the only holder
//     }
//
// acquire(), permit() and lock() are operations in place, for every style: if one loses a race, or is cancelled, it has
// taken no permit, and the waiters behind it move up. The waiters are served in order, in turns of the loop, and
// nothing overtakes them: a new acquire() queues behind them, also in the task that has just released. So a holder that
// acquires more may wait forever. With Order::WhatFits an acquire() that can be served at once does not queue: then one
// of many permits may wait for as long as others of few arrive.
//
// An acquire() of more permits than there ever are waits until close(). Belongs to one thread. When a Semaphore is
// destroyed its waiters get broken_promise; a Permit or a Lock must not outlive it.

#include "flow/wait/source.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <source_location>
#include <utility>

namespace flow {

class Semaphore {
public:
    class Permit;
    /// The operations that may take free permits: only the one that waits longest, or also a new one that they suffice
    /// for.
    enum class Order : std::uint8_t { FirstComeFirstServed, WhatFits };

    struct Acquire {
        using Result = Void;
        Semaphore* semaphore;
        std::size_t permits;
        TaskPriority priority;

        bool isReady() const { return semaphore->isReady(*this); }
        void park(WaiterNode& waiter) { semaphore->park(waiter, *this); }
        Void take() const {
            semaphore->take(permits);
            return Void();
        }
        void describe(Description& out) const { semaphore->describe(*this, out); }
    };
    template <class Guard>
    struct AcquireGuarded {
        using Result = Guard;
        Acquire acquire;

        bool isReady() const { return acquire.isReady(); }
        void park(WaiterNode& waiter) { acquire.park(waiter); }
        Guard take() const {
            acquire.take();
            return Guard(*acquire.semaphore, acquire.permits);
        }
    };

    explicit Semaphore(std::size_t permits, Order order = Order::FirstComeFirstServed)
        : Semaphore(permits, order, Kind::Semaphore) {}

    /// Ready when so many permits are free, which are then taken. A waiter resumes at that priority, or at a higher one
    /// of another that waits.
    Acquire acquire(std::size_t permits = 1, TaskPriority priority = TaskPriority::DefaultYield,
                    std::source_location caller = std::source_location::current()) {
        FLOW_ASSERT_AT(caller, permits <= kMost, "Semaphore: more permits than a number can be");
        return {this, permits, priority};
    }
    /// Like acquire(). The result gives the permits back at its end.
    AcquireGuarded<Permit> permit(std::size_t permits = 1, TaskPriority priority = TaskPriority::DefaultYield,
                                  std::source_location caller = std::source_location::current()) {
        return {acquire(permits, priority, caller)};
    }
    /// Takes the permits if nothing has to wait for that.
    bool tryAcquire(std::size_t permits = 1, std::source_location caller = std::source_location::current()) {
        if (!isReady(acquire(permits, TaskPriority::DefaultYield, caller)) || isClosed())
            return false;
        take(permits);
        return true;
    }
    void release(std::size_t permits = 1, std::source_location caller = std::source_location::current()) {
        FLOW_ASSERT_AT(caller, permits <= kMost, "Semaphore: more permits than a number can be");
        if (free_ != kQueued) [[likely]]
            free_ += static_cast<std::int64_t>(permits);
        else
            releaseQueued(permits);
    }

    /// Fails the waiters with the error, oldest first, before it returns; later ones get it at once. Permits can still
    /// be given back.
    void close(Error error = broken_promise()) { close(error, error); }
    /// Like close(error), but the longest waiter fails with `first` and all others with `others`.
    void close(Error first, Error others);
    bool isClosed() const { return error_.isValid(); }

    /// The permits that are free, or on their way to a waiter.
    std::int64_t permits() const { return free_ != kQueued ? free_ : passed_; }
    /// The permits that are free and on their way to no waiter.
    std::int64_t available() const { return permits() - onTheirWay().permits; }
    /// The waiters that no permits are on their way to. Counts them one by one.
    std::size_t waiters() const;

protected:
    /// The rules of the shells. A FlowLock's permits are all that there ever are: an acquire() of more gets them when
    /// all are free, and permits() is below zero then.
    enum class Kind : std::uint8_t { Semaphore, Mutex, FlowLock };

    Semaphore(std::size_t permits, Order order, Kind kind)
        : free_(static_cast<std::int64_t>(permits)), all_(free_), order_(order), kind_(kind) {}

    Error error() const { return error_; }

private:
    friend class Mutex;
    struct OnTheirWay {
        std::int64_t permits = 0;
        std::size_t waiters = 0;
    };
    static constexpr std::int64_t kQueued = std::numeric_limits<std::int64_t>::min();
    static constexpr std::size_t kMost = std::numeric_limits<std::int64_t>::max();

    bool isReady(Acquire const& op) { return static_cast<std::int64_t>(op.permits) <= free_ || admits(op); }
    void take(std::size_t permits) {
        if (static_cast<std::int64_t>(permits) <= free_) [[likely]]
            free_ -= static_cast<std::int64_t>(permits);
        else
            takeQueued(permits);
    }
    bool admits(Acquire const& op);
    bool suffices(std::int64_t free, Acquire const& op) const;
    void park(WaiterNode& waiter, Acquire& op);
    void takeQueued(std::size_t permits);
    void releaseQueued(std::size_t permits);
    void queue();
    void endQueue();
    OnTheirWay onTheirWay() const;
    void describe(Acquire const& op, Description& out) const;
    /// The address with its lowest bit set. So the value in a holder's frame differs from a plain reference, and a
    /// report of pending operations finds the holder.
    std::uintptr_t mark() const { return reinterpret_cast<std::uintptr_t>(this) + 1; }

    std::int64_t free_;       // kQueued: the permits are in `passed_`, since some wait, or it is closed
    std::int64_t passed_ = 0; // for those that wait, and for others as far as the order permits
    std::int64_t all_;        // that it was made with
    Error error_;             // of close()
    std::uint32_t held_ = 0;  // Permits that exist
    Order order_;
    Kind kind_;
    TaskPriority priority_ = TaskPriority::DefaultYield; // the highest among those that wait
    Source<Acquire> waiting_;
};

/// Gives permits back at its end.
class Semaphore::Permit {
public:
    /// Holds nothing.
    Permit() = default;
    /// Of permits that have been acquired.
    explicit Permit(Semaphore& semaphore, std::size_t permits = 1) : mark_(semaphore.mark()), permits_(permits) {
        ++semaphore.held_;
    }
    Permit(Permit&& other) noexcept : mark_(other.takeMark()), permits_(other.permits_) {}
    Permit& operator=(Permit&& other) noexcept {
        Permit taken(std::move(other));
        std::swap(mark_, taken.mark_);
        std::swap(permits_, taken.permits_);
        return *this;
    }
    ~Permit() { release(); }

    void release() {
        if (std::uintptr_t mark = takeMark()) {
            auto* semaphore = reinterpret_cast<Semaphore*>(mark - 1);
            --semaphore->held_;
            semaphore->release(permits_);
        }
    }
    bool isHeld() const { return mark_ != 0; }

private:
    /// The asm keeps the compiler from leaving the mark in a frame after the end of the Permit.
    std::uintptr_t takeMark() {
        std::uintptr_t mark = std::exchange(mark_, 0);
        asm("" : : "m"(mark_));
        return mark;
    }

    std::uintptr_t mark_ = 0; // 0: holds nothing
    std::size_t permits_ = 0;
};

class Mutex {
public:
    class Lock : public Semaphore::Permit {
    public:
        using Permit::Permit;
        void unlock() { release(); }
    };

    Semaphore::AcquireGuarded<Lock> lock() { return {one_.acquire()}; }
    bool isLocked() const { return one_.permits() == 0; }

private:
    Semaphore one_{1, Semaphore::Order::FirstComeFirstServed, Semaphore::Kind::Mutex};
};

} // namespace flow
