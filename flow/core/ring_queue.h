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

namespace flow {

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
            grow();
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

    void grow() {
        std::uint32_t larger = capacity_ ? capacity_ * 2 : 4;
        FLOW_ASSERT(larger > capacity_, "RingQueue: more than 2^31 elements");
        auto* slots = static_cast<T*>(memory::allocate(larger * sizeof(T)));
        std::uint32_t count = size();
        for (std::uint32_t i = 0; i < count; ++i) {
            T& old = slots_[(first_ + i) & (capacity_ - 1)];
            ::new (slots + i) T(std::move(old));
            old.~T();
        }
        if (slots_)
            memory::release(slots_, memory::sizeClassOf(capacity_ * sizeof(T)));
        slots_ = slots;
        capacity_ = larger;
        first_ = 0;
        end_ = count;
    }

    T* slots_ = nullptr;
    std::uint32_t capacity_ = 0; // 0 or a power of two
    std::uint32_t first_ = 0;    // both run on and wrap at 2^32
    std::uint32_t end_ = 0;
};

} // namespace flow
