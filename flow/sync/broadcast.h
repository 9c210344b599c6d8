#pragma once
// Broadcast<T>: a ring of values that sends each value to all receivers. A slow receiver misses values.
//
//     Broadcast<Price> prices(100);                        // holds the last 100 values
//     prices.send(price);                                  // never waits
//
//     Broadcast<Price>::Receiver mine = prices.subscribe();   // in each receiver: gets the values sent from now on
//     for (;;) {
//         auto [missed, price] = co_await mine.receive();  // end_of_stream after close()
//         if (missed != 0)
//             ...                                          // `missed` values were lost before `price`
//     }
//
// receive() is an operation in place, for actors, coroutines and fibers. If it loses a race, or is cancelled, it has
// received nothing. Each receiver gets a copy of each value, in the order of sending, as long as it is at most
// `capacity` values behind. A receiver that is further behind continues with the oldest value in the ring. A value
// stays in the ring until it is overwritten, even if there are no receivers.
//
// After close(), receivers get the values that are left, then end_of_stream. send() throws broken_promise. A Receiver
// may outlive its Broadcast: its present and later waits fail with broken_promise. Destroying a Receiver fails its
// waiters with broken_promise. A Receiver can be moved while it has no waiter. The constructor of a Broadcast allocates
// all memory. A Broadcast and its receivers belong to one thread.

#include "flow/base/assert.h"
#include "flow/base/intrusive_list.h"
#include "flow/memory/fast_resource.h"
#include "flow/wait/source.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>
#include <vector>

namespace flow {

template <class T>
class Broadcast {
    static_assert(std::is_nothrow_move_constructible_v<T>, "a Broadcast moves its values, which must not throw");

public:
    class Receiver;
    struct Received {
        std::uint64_t missed; // the number of values that were lost before `value`
        T value;
    };
    struct Receive {
        using Result = Received;
        Receiver* receiver;

        bool isReady() const { return receiver->isReady(*this); }
        void park(WaiterNode& waiter) { receiver->waiting_.park(waiter, *this); }
        Received take() const { return receiver->take(); }
    };

    explicit Broadcast(std::size_t capacity, std::pmr::memory_resource& memory = fastMemory(),
                       std::source_location caller = std::source_location::current())
        : values_(capacity, std::pmr::polymorphic_allocator<>(&memory)) {
        FLOW_ASSERT_AT(caller, capacity != 0, "a Broadcast that holds no value");
        receivers_.reset();
    }
    Broadcast(Broadcast const&) = delete;
    Broadcast& operator=(Broadcast const&) = delete;
    ~Broadcast() {
        while (hasReceivers()) {
            auto* receiver = static_cast<Receiver*>(receivers_.next);
            receiver->unlink();
            receiver->broadcast_ = nullptr;
            receiver->waiting_.failAll(broken_promise()); // may destroy receivers
        }
    }

    void send(T value) {
        if (isClosed_)
            throw broken_promise();
        std::optional<T> sent(std::move(value));
        values_[sent_++ % values_.size()].swap(sent);
        wakeAll();
        // `sent` is now the oldest value. Its destructor may run any code, so it runs last.
    }
    void close() {
        isClosed_ = true;
        wakeAll();
    }
    bool isClosed() const { return isClosed_; }
    /// Returns a Receiver of the values that are sent from now on.
    Receiver subscribe() { return Receiver(*this); }
    bool hasReceivers() const { return !receivers_.isEmpty(); }

private:
    void wakeAll() {
        for (ListLink* each = receivers_.next; each != &receivers_; each = each->next)
            static_cast<Receiver*>(each)->waiting_.wakeInTurn();
    }

    std::pmr::vector<std::optional<T>> values_; // a ring
    std::uint64_t sent_ = 0;                    // the number of values that have been sent
    bool isClosed_ = false;
    ListLink receivers_;
};

template <class T>
class Broadcast<T>::Receiver : ListLink {
public:
    Receiver(Receiver&& other) noexcept
        : ListLink(), broadcast_(std::exchange(other.broadcast_, nullptr)), next_(other.next_) {
        FLOW_ASSERT(!other.waiting_.isWaitedFor(), "a Receiver of a Broadcast is moved while something waits for it");
        if (!broadcast_)
            return;
        other.unlink();
        pushBack(broadcast_->receivers_, *this);
    }
    Receiver& operator=(Receiver&&) = delete;
    ~Receiver() {
        if (broadcast_)
            unlink();
    }

    Receive receive() { return {this}; }

private:
    friend class Broadcast;
    friend struct Broadcast::Receive;

    explicit Receiver(Broadcast& broadcast) : broadcast_(&broadcast), next_(broadcast.sent_) {
        pushBack(broadcast.receivers_, *this);
    }

    bool isReady(Receive const& op) {
        return !broadcast_ || broadcast_->isClosed_ || (next_ != broadcast_->sent_ && waiting_.isNext(op));
    }
    Received take() {
        if (!broadcast_)
            throw broken_promise();
        std::uint64_t sent = broadcast_->sent_, held = broadcast_->values_.size();
        if (next_ == sent)
            throw end_of_stream();
        std::uint64_t taken = std::max(next_, sent - std::min(sent, held));
        Received received{taken - next_, *broadcast_->values_[taken % held]};
        next_ = taken + 1;
        return received;
    }

    Broadcast* broadcast_; // null if the Broadcast was destroyed
    std::uint64_t next_;   // the number of the next value, counted from the first send()
    Source<Receive> waiting_;
};

} // namespace flow
