#pragma once
// RingQueue<T>: first in, first out, in one ring of memory that grows by doubling.
//
//     RingQueue<Message> queue;
//     queue.push(message);
//     Message next = queue.pop();
//
// An empty queue that never held anything owns no memory. T need not be copyable or default-constructible.

#include "flow/base/assert.h"
#include "flow/memory/fast_allocator.h"

#include <cstdint>
#include <utility>

namespace flow::detail {

template <class T>
class RingQueue {
    static_assert(alignof(T) <= 16, "elements are aligned to 16 bytes at most");

public:
    RingQueue() = default;
    RingQueue(RingQueue const&) = delete;
    RingQueue& operator=(RingQueue const&) = delete;
    ~RingQueue() {
        while (!isEmpty())
            drop();
        if (slots_)
            memory::release(slots_, memory::sizeClassOf(capacity_ * sizeof(T)));
    }

    bool isEmpty() const { return first_ == end_; }
    std::uint32_t size() const { return end_ - first_; }

    template <class U>
    void push(U&& value) {
        if (size() == capacity_)
            return grow(std::forward<U>(value));
        ::new (slots_ + (end_ & (capacity_ - 1))) T(std::forward<U>(value));
        ++end_;
    }
    /// Takes the oldest element; the queue must not be empty.
    T pop() {
        T value(std::move(front()));
        drop();
        return value;
    }
    T& front() {
        FLOW_ASSERT(!isEmpty(), "RingQueue: nothing to take");
        return slots_[first_ & (capacity_ - 1)];
    }

private:
    void drop() {
        front().~T();
        ++first_;
    }

    /// Pushes into a ring of twice the size, which then changes places with this one. The new element comes first: it
    /// may be made from one of the old, or throw. What throws leaves this queue as it was, unless T can only be moved.
    template <class U>
    void grow(U&& value) {
        RingQueue larger;
        larger.capacity_ = capacity_ ? capacity_ * 2 : 4;
        FLOW_ASSERT(larger.capacity_ > capacity_, "RingQueue: more than 2^31 elements");
        larger.slots_ = static_cast<T*>(memory::allocate(larger.capacity_ * sizeof(T)));
        larger.first_ = larger.end_ = size();
        larger.push(std::forward<U>(value));
        for (; larger.first_ != 0; --larger.first_) {
            T& old = slots_[(first_ + larger.first_ - 1) & (capacity_ - 1)];
            ::new (larger.slots_ + larger.first_ - 1) T(std::move_if_noexcept(old));
        }
        std::swap(slots_, larger.slots_);
        std::swap(capacity_, larger.capacity_);
        std::swap(first_, larger.first_);
        std::swap(end_, larger.end_);
    }

    T* slots_ = nullptr;
    std::uint32_t capacity_ = 0; // 0 or a power of two
    std::uint32_t first_ = 0;    // both run on and wrap at 2^32
    std::uint32_t end_ = 0;
};

} // namespace flow::detail
