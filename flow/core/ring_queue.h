#pragma once
// RingQueue<T>: first in, first out, in one ring of memory that grows by doubling.
//
//     RingQueue<Message> queue;
//     queue.push(message);
//     Message next = queue.pop();
//
// An empty queue that never held anything owns no memory. T need not be copyable or default-constructible.

#include "flow/base/assert.h"
#include "flow/base/inline.h"
#include "flow/core/detail/copied.h"
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
        if (capacity_ != 0)
            memory::release(slots(), memory::sizeClassOf(capacity_ * sizeof(T)));
    }

    bool isEmpty() const { return first_ == end_; }
    std::uint32_t size() const { return static_cast<std::uint32_t>(end_ - first_) + (end_ < first_ ? capacity_ : 0); }

    template <class U>
    void push(U&& value) {
        if (mayPush())
            pushHere(std::forward<U>(value));
        else
            pushSlow(std::forward<U>(value));
    }

    // push() in two parts, for PromiseStream::send(). mayPush() is only one comparison. If mayPush() is true, there is
    // room, no reader waits for a first element, and the stream has not ended.

    /// True if pushHere() may be called. False for an empty queue, a full one, and after stop().
    bool mayPush() const { return end_ != stop_; }
    template <class U>
    FLOW_INLINE void pushHere(U&& value) {
        ::new (end_) T(std::forward<U>(value));
        ++end_;
    }
    /// The part of push() if mayPush() is false.
    template <class U>
    FLOW_INLINE void pushSlow(U&& value) {
        T* stop = room();
        if (stop == end_) [[unlikely]]
            return grow(std::forward<U>(value));
        pushHere(std::forward<U>(value));
        stop_ = stop; // only now: if pushHere() throws, mayPush() of an empty queue must stay false
    }
    /// Makes mayPush() false until the next push().
    void stop() { stop_ = end_; }

    /// Takes the oldest element; the queue must not be empty.
    T pop() {
        T value(std::move(front()));
        drop();
        return value;
    }
    T& front() {
        FLOW_ASSERT(!isEmpty(), "RingQueue: nothing to take");
        return *first_;
    }
    /// Returns the element that has `index` older elements in front of it. There must be such an element.
    T& at(std::uint32_t index) {
        auto straight = static_cast<std::uint32_t>(last_ - first_);
        return index < straight ? first_[index] : slots()[index - straight];
    }

private:
    T* slots() const { return last_ - capacity_; }

    void drop() {
        first_->~T();
        ++first_;
        if (first_ == last_ && end_ != last_) [[unlikely]]
            first_ = slots();
        if (isEmpty())
            stop();
    }

    /// Returns the end of the free slots that begin at `end_`; `end_` itself if the ring is full. While the ring is
    /// wrapped around, one slot stays free, so that a full ring does not look empty.
    T* room() {
        if (isEmpty() && end_ != last_) [[likely]]
            return last_;
        if (isEmpty())
            first_ = end_ = stop_ = slots();
        else if (end_ == last_ && first_ != slots())
            end_ = stop_ = slots();
        return end_ < first_ ? first_ - 1 : last_;
    }

    /// Makes a ring of twice the size with all elements and the new one, and swaps it with this ring. The new element
    /// is made first, because it may be made from one of the old elements, or its constructor may throw. An exception
    /// leaves this queue as it was, unless T can only be moved.
    template <class U>
    [[gnu::noinline]] void grow(U&& value) {
        RingQueue larger;
        std::uint32_t moved = size();
        std::uint32_t capacity = capacity_ ? capacity_ * 2 : 4;
        FLOW_ASSERT(capacity > capacity_, "RingQueue: more than 2^31 elements");
        auto* slots = static_cast<T*>(memory::allocate(capacity * sizeof(T)));
        larger.capacity_ = capacity;
        larger.last_ = larger.stop_ = slots + capacity;
        larger.first_ = larger.end_ = slots + moved;
        ::new (larger.end_) T(std::forward<U>(value));
        ++larger.end_;
        while (moved != 0) {
            T& old = at(--moved);
            if constexpr (detail::kCopied<T>)
                ::new (larger.first_ - 1) T(std::move_if_noexcept(old));
            else
                ::new (larger.first_ - 1) T(std::move(old));
            --larger.first_;
        }
        std::swap(first_, larger.first_);
        std::swap(end_, larger.end_);
        std::swap(stop_, larger.stop_);
        std::swap(last_, larger.last_);
        std::swap(capacity_, larger.capacity_);
    }

    T* first_ = nullptr; // the oldest element
    T* end_ = nullptr;   // the slot for the next element
    T* stop_ = nullptr;  // mayPush() is false when `end_` is here; never behind the free slots
    T* last_ = nullptr;  // the end of the ring
    std::uint32_t capacity_ = 0;
};

} // namespace flow
