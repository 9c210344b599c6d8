#pragma once
// Semaphore: a counter of permits, which tasks take and give back. Mutex: a lock with one holder.
//
//     Semaphore places(100);
//     Semaphore::Permit place = co_await places.permit();   // its destructor gives the permit back
//
//     Semaphore arrived(0);
//     co_await arrived.acquire();                           // suspends until there is a permit
//     arrived.release();                                    // any code may call it; waiters resume in later turns
//
//     Semaphore memory(1 << 20);
//     Semaphore::Permit room = co_await memory.permit(message.size());   // takes message.size() permits
//
//     Mutex mutex;
//     {
//         Mutex::Lock lock = co_await mutex.lock();
//         ...                                               // the only holder
//     }
//
// acquire(), permit() and lock() return operations in place, for actors, coroutines and fibers. An operation that loses
// a race, or is cancelled, has taken no permit, and the waiters behind it move up. Waiters are served in order, in
// turns of the loop. A new acquire() queues behind all waiters. So a task that holds permits and acquires more may wait
// forever. With Order::WhatFits, a new acquire() does not queue if enough permits are free. So an acquire() of many
// permits may wait as long as acquires of few permits arrive.
//
// An acquire() of more permits than the Semaphore ever gets waits until close(). A Semaphore belongs to one thread. Its
// destructor fails the waiters with broken_promise. An assertion checks that no Permit or Lock outlives it.

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
    /// FirstComeFirstServed: only the oldest waiter may take free permits. WhatFits: a new acquire() may take free
    /// permits too, if they suffice and no woken waiter is about to take them.
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
    ~Semaphore() {
        FLOW_CHECK(held_ == 0, "a Semaphore, Mutex or SharedMutex is destroyed while a Permit or Lock of it is held");
    }

    /// Returns an operation that is ready when `permits` permits are free, and then takes them. A waiter resumes at
    /// `priority`, or at the priority of another waiter if that is higher.
    Acquire acquire(std::size_t permits = 1, TaskPriority priority = TaskPriority::DefaultYield,
                    std::source_location caller = std::source_location::current()) {
        FLOW_ASSERT_AT(caller, permits <= kMost, "Semaphore: more permits than a number can be");
        return {this, permits, priority};
    }
    /// Like acquire(), but the result is a Permit. Its destructor gives the permits back.
    AcquireGuarded<Permit> permit(std::size_t permits = 1, TaskPriority priority = TaskPriority::DefaultYield,
                                  std::source_location caller = std::source_location::current()) {
        return {acquire(permits, priority, caller)};
    }
    /// Takes the permits and returns true if that is possible without a wait.
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

    /// Fails all waiters with the error, oldest first, before close() returns. A later acquire() fails with the error
    /// without waiting. Permits can still be given back.
    void close(Error error = broken_promise()) { close(error, error); }
    /// Like close(error), but the oldest waiter fails with `first`. Others, and later acquires, fail with `others`.
    void close(Error first, Error others);
    bool isClosed() const { return error_.isValid(); }

    /// Returns the number of free permits. It includes permits that a woken waiter will take in its turn.
    std::int64_t permits() const { return free_ != kQueued ? free_ : passed_; }
    /// Returns the number of free permits without those that a woken waiter will take.
    std::int64_t available() const { return permits() - onTheirWay().permits; }
    /// Returns the number of waiters for which there are not enough permits yet. Visits each waiter.
    std::size_t waiters() const;

protected:
    /// The class that this Semaphore is a part of. In a FlowLock, an acquire() of more permits than the FlowLock has in
    /// total is ready when all permits are free, and makes permits() negative.
    enum class Kind : std::uint8_t { Semaphore, Mutex, SharedMutex, FlowLock };

    Semaphore(std::size_t permits, Order order, Kind kind)
        : free_(static_cast<std::int64_t>(permits)), all_(free_), order_(order), kind_(kind) {}

    Error error() const { return error_; }

private:
    friend class Mutex;
    friend class SharedMutex;
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
    /// Returns the address of this Semaphore with its lowest bit set. A Permit stores this value rather than a pointer,
    /// so that a report of pending operations finds the frame that holds the Permit.
    std::uintptr_t mark() const { return reinterpret_cast<std::uintptr_t>(this) + 1; }

    std::int64_t free_;       // the permits; kQueued if something waits, or after close()
    std::int64_t passed_ = 0; // the permits while `free_` is kQueued
    std::int64_t all_;        // the permits at construction
    Error error_;             // the error of close()
    std::uint32_t held_ = 0;  // the number of Permit objects that hold permits
    Order order_;
    Kind kind_;
    TaskPriority priority_ = TaskPriority::DefaultYield; // the highest priority of the waiters
    Source<Acquire> waiting_;
};

/// Gives permits back in its destructor.
class Semaphore::Permit {
public:
    Permit() = default;
    /// Holds permits that the caller has acquired.
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
    /// The asm forces the store of 0. Without it, an ended Permit might leave its mark in the frame.
    std::uintptr_t takeMark() {
        std::uintptr_t mark = std::exchange(mark_, 0);
        asm("" : : "m"(mark_));
        return mark;
    }

    std::uintptr_t mark_ = 0; // 0: holds no permits
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
