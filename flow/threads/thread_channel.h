#pragma once
// ThreadChannel<T>: a bounded queue between any number of threads. Tasks suspend; threads without a loop block.
//
//     ThreadChannel<Job> jobs(16);                      // holds at most 16 jobs
//     co_await jobs.send(std::move(job));               // a task: suspends while the channel is full
//     Job next = co_await jobs.receive();               // a task: suspends while it is empty; end_of_stream at the end
//     auto first = co_await race(jobs.receive(), delay(1.0));
//     jobs.sendBlocking(std::move(job));                // a thread without a loop: blocks while the channel is full
//     while (std::optional<Job> job = jobs.receiveBlocking()) work(*job);
//     if (!jobs.trySend(std::move(job))) ...            // any thread: never waits; after false the job is unchanged
//     jobs.close();
//
// send() and receive() are operations in place, for actors, coroutines and fibers. They belong to the loop on which
// they are awaited. An operation that loses a race, or is cancelled, has sent nothing and received nothing: a waiting
// send() only refers to the value. Values are received in the order of sending. Tasks and threads are served in the
// order in which they began to wait. A value or place for a waiting task is reserved until its loop has the turn, so no
// step of this loop may wait for the other waiters. A wait always takes a turn of the loop, even if there is a value:
// so a receiving task does not keep its loop from other work. Within one loop, Channel (flow/sync/channel.h) is faster.
//
// After close(), receivers get the values that are left. Then receive() fails with end_of_stream; receiveBlocking() and
// tryReceive() return nothing. Present and later senders fail with broken_promise; trySend() returns false.
//
// Any thread may call any member. While a task waits for the channel, its loop does not end for lack of work. A loop
// may be destroyed while its tasks wait: others get their values and places. An assertion checks that the channel
// outlives all waits for it. T is moved under a mutex, so its move constructor must not throw or block.

#include "flow/core/void.h"
#include "flow/threads/detail/units.h"

#include <source_location>
#include <type_traits>
#include <utility>
#include <vector>

namespace flow {

template <class T>
class ThreadChannel {
    static_assert(std::is_nothrow_move_constructible_v<T>, "a ThreadChannel moves its values, which must not throw");

public:
    struct Send {
        using Result = Void;
        ThreadChannel* channel;
        T* value;
        threads::LoopTicket<Send>* ticket;

        bool isReady() const { return false; }
        void park(WaiterNode& waiter) { ticket = channel->park(waiter, *this, channel->places_); }
        Void take() {
            delete ticket;
            std::lock_guard lock(channel->mutex_);
            channel->places_.end();
            channel->put(*value);
            return Void();
        }
        static void noneWaits(Source<Send>& source) { static_cast<threads::LoopTicket<Send>&>(source).withdraw(); }
    };
    struct Receive {
        using Result = T;
        ThreadChannel* channel;
        threads::LoopTicket<Receive>* ticket;

        bool isReady() const { return false; }
        void park(WaiterNode& waiter) { ticket = channel->park(waiter, *this, channel->values_); }
        T take() {
            delete ticket;
            std::lock_guard lock(channel->mutex_);
            channel->values_.end();
            if (channel->isOver())
                throw end_of_stream();
            return channel->get();
        }
        static void noneWaits(Source<Receive>& source) {
            static_cast<threads::LoopTicket<Receive>&>(source).withdraw();
        }
    };

    explicit ThreadChannel(std::size_t capacity, std::source_location caller = std::source_location::current())
        : places_(capacity), ring_(capacity) {
        FLOW_ASSERT_AT(caller, capacity != 0, "a ThreadChannel holds at least one value");
    }
    ThreadChannel(ThreadChannel const&) = delete;
    ThreadChannel& operator=(ThreadChannel const&) = delete;

    /// Returns an operation that moves the value into the channel. For a copy, write send(T(value)).
    Send send(T&& value) { return {this, &value, nullptr}; }
    Receive receive() { return {this, nullptr}; }

    /// If there is room now, moves the value into the channel and returns true.
    [[nodiscard]] bool trySend(T&& value) {
        std::lock_guard lock(mutex_);
        if (isClosed_ || !places_.take())
            return false;
        put(value);
        return true;
    }
    /// Takes a value; returns nothing if there is none now.
    std::optional<T> tryReceive() {
        std::lock_guard lock(mutex_);
        if (isOver() || !values_.take())
            return std::nullopt;
        return get();
    }

    /// Moves the value into the channel. Blocks the thread, which must have no loop, while the channel is full.
    void sendBlocking(T value, std::source_location caller = std::source_location::current()) {
        FLOW_ASSERT_AT(caller, !hasLoop(), "sendBlocking() on the thread of a loop: write co_await send()");
        std::unique_lock lock(mutex_);
        places_.block(lock, isClosed_);
        put(value);
    }
    /// Takes a value. Blocks the thread, which must have no loop, while the channel is empty. Returns nothing at the
    /// end.
    std::optional<T> receiveBlocking(std::source_location caller = std::source_location::current()) {
        FLOW_ASSERT_AT(caller, !hasLoop(), "receiveBlocking() on the thread of a loop: write co_await receive()");
        std::unique_lock lock(mutex_);
        values_.block(lock, isOver());
        if (isOver())
            return std::nullopt;
        return get();
    }

    void close() {
        std::lock_guard lock(mutex_);
        isClosed_ = true;
        places_.callAll();
        if (count_ == 0)
            values_.callAll();
    }
    bool isClosed() const {
        std::lock_guard lock(mutex_);
        return isClosed_;
    }
    std::size_t size() const {
        std::lock_guard lock(mutex_);
        return count_;
    }
    std::size_t capacity() const { return ring_.size(); }

private:
    template <class Op>
    threads::LoopTicket<Op>* park(WaiterNode& waiter, Op& op, threads::Units& units) {
        auto* ticket = new threads::LoopTicket<Op>(mutex_, units);
        ticket->park(waiter, op);
        std::lock_guard lock(mutex_);
        units.begin(*ticket, &units == &places_ ? isClosed_ : isOver());
        return ticket;
    }

    // Called under the mutex:

    bool isOver() const { return isClosed_ && count_ == 0; }
    /// The caller must have taken a unit of places_.
    void put(T& value) {
        if (isClosed_)
            throw broken_promise();
        ring_[(first_ + count_) % ring_.size()].emplace(std::move(value));
        ++count_;
        values_.give();
    }
    /// The caller must have taken a unit of values_.
    T get() noexcept {
        std::optional<T>& place = ring_[first_];
        T value(*std::move(place));
        place.reset();
        first_ = (first_ + 1) % ring_.size();
        --count_;
        places_.give();
        if (isOver())
            values_.callAll();
        return value;
    }

    mutable std::mutex mutex_; // guards the members below
    threads::Units places_;
    threads::Units values_{0};
    std::vector<std::optional<T>> ring_;
    std::size_t first_ = 0;
    std::size_t count_ = 0;
    bool isClosed_ = false;
};

} // namespace flow
