#pragma once
// Channel<T>: a bounded queue of values, with any number of senders and receivers.
//
//     Channel<Job> jobs(16);                            // holds at most 16 jobs; 0: each send waits for a receiver
//     co_await jobs.send(job);                          // suspends while the channel is full
//     co_await jobs.send(std::move(job));
//     Job next = co_await jobs.receive();               // suspends while jobs is empty; end_of_stream at the end
//     auto first = co_await race(jobs.receive(), delay(1.0));
//     wait(jobs.send(job));                             // actors: `job` must be a state variable
//     jobs.close();
//
// send() and receive() are operations in place, for actors, coroutines and fibers. An operation that loses a race, or
// is cancelled, has sent nothing and received nothing. A value stays with the sender until the channel or a receiver
// takes it. So the value must live as long as its send(): a temporary lives long enough in a coroutine's co_await, but
// not in an actor's wait() or in keep(). A send() of a trivial value of at most 8 bytes holds a copy of this value:
// `wait(ids.send(7))`. Values are received in the order of sending. Waiters are served in order, in turns of the loop.
// A new operation does not overtake them. With capacity 0, send() waits for a receiver.
//
// After close(), receivers get the values that are left, then end_of_stream. Present and later senders get
// broken_promise. The destructor also fails waiters with broken_promise. The constructor allocates all memory. A
// channel belongs to one thread.

#include "flow/core/result.h"
#include "flow/memory/fast_resource.h"
#include "flow/wait/source.h"

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace flow {

template <class T>
class Channel {
    static constexpr bool kIsHeld = std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(T*);

public:
    struct Send {
        using Result = Void;
        Channel* channel;
        std::conditional_t<kIsHeld, std::optional<T>, T*> value; // empty after a receiver has taken the value
        bool moves;

        bool isReady() const {
            return !value || channel->isClosed_ || (channel->hasRoom() && channel->senders_.isNext(*this));
        }
        void park(WaiterNode& waiter) { channel->senders_.park(waiter, *this); }
        Void take() {
            if (value)
                channel->put(*this);
            return Void();
        }
    };
    struct Receive {
        using Result = T;
        Channel* channel;

        bool isReady() const {
            return channel->isClosed_ || (channel->hasValue() && channel->receivers_.isNext(*this));
        }
        void park(WaiterNode& waiter) { channel->receivers_.park(waiter, *this); }
        T take() { return channel->get(); }
    };

    explicit Channel(std::size_t capacity, std::pmr::memory_resource& memory = fastMemory())
        : memory_(&memory), capacity_(capacity), slots_(capacity == 0 ? 1 : capacity),
          values_(static_cast<T*>(memory.allocate(slots_ * sizeof(T), alignof(T)))) {}
    Channel(Channel const&) = delete;
    Channel& operator=(Channel const&) = delete;
    ~Channel() {
        for (; count_ != 0; --count_)
            std::destroy_at(&values_[std::exchange(first_, next(first_))]);
        memory_->deallocate(values_, slots_ * sizeof(T), alignof(T));
    }

    /// Returns an operation that copies the value into the channel when there is room.
    Send send(T const& value)
        requires flow::detail::kCopied<T>
    {
        return sent(const_cast<T&>(value), false);
    }
    /// Returns an operation that moves the value into the channel when there is room.
    Send send(T&& value) { return sent(value, true); }
    Receive receive() { return {this}; }

    void close() {
        isClosed_ = true;
        senders_.wakeInTurn();
        receivers_.wakeInTurn();
    }
    bool isClosed() const { return isClosed_; }
    std::size_t size() const { return count_; }
    std::size_t capacity() const { return capacity_; }

private:
    std::size_t next(std::size_t index) const { return index + 1 == slots_ ? 0 : index + 1; }
    bool hasRoom() const { return capacity_ == 0 ? count_ == 0 && receivers_.isWaitedFor() : count_ < capacity_; }
    bool hasValue() const { return count_ != 0 || (capacity_ == 0 && senders_.isWaitedFor()); }

    Send sent(T& value, bool moves) {
        if constexpr (kIsHeld)
            return {this, value, moves};
        else
            return {this, &value, moves};
    }
    static T valueOf(Send& send) {
        if constexpr (flow::detail::kCopied<T>)
            return send.moves ? T(std::move(*send.value)) : T(*send.value);
        else
            return T(std::move(*send.value));
    }

    void put(Send& send) {
        if (isClosed_)
            throw broken_promise();
        std::size_t place = first_ + count_;
        ::new (&values_[place < slots_ ? place : place - slots_]) T(valueOf(send));
        ++count_;
        if (capacity_ == 0)
            receivers_.wakeFirst(); // the receiver takes the value during this call
        else
            receivers_.wakeInTurn();
    }

    T get() {
        if (count_ == 0) {
            if (!senders_.isWaitedFor() || isClosed_)
                throw end_of_stream();
            return takeFromSender();
        }
        struct Taken {
            Channel* channel;
            ~Taken() {
                std::destroy_at(&channel->values_[channel->first_]);
                channel->first_ = channel->next(channel->first_);
                --channel->count_;
                channel->senders_.wakeInTurn();
            }
        } taken{this};
        return std::move(values_[first_]);
    }
    /// Takes the value of the oldest waiting sender. The sender resumes during this call, before any other code runs.
    T takeFromSender() {
        T value = valueOf(senders_.first());
        senders_.first().value = {};
        senders_.wakeFirst(); // the sender may destroy the channel
        return value;
    }

    std::pmr::memory_resource* memory_;
    std::size_t capacity_;
    std::size_t slots_;
    T* values_; // a ring
    std::size_t first_ = 0;
    std::size_t count_ = 0;
    bool isClosed_ = false;
    Source<Send> senders_;
    Source<Receive> receivers_;
};

} // namespace flow
