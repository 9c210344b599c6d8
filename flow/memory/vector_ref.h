#pragma once
// VectorRef<T>: a vector with its elements in an Arena.
//
//     VectorRef<int> numbers;
//     numbers.push_back(arena, 7);
//     names.push_back_deep(arena, name);          // copies the bytes of a StringRef as well
//     for (int number : numbers.slice(1, 3)) ...
//
// A copy of a VectorRef refers to the same elements. After that only one of the two may grow, because push_back() of
// both would write to the same memory. Elements are never destroyed, so T must be trivially destructible. Indexes are
// checked in checked builds; front(), back(), pop_front() and pop_back() are checked in all builds.

#include "flow/base/assert.h"
#include "flow/memory/arena.h"

#include <algorithm>
#include <compare>
#include <iterator>
#include <memory>
#include <new>

namespace flow {

template <class T>
class VectorRef {
public:
    using value_type = T;
    using iterator = T*;
    using const_iterator = T const*;

    VectorRef() = default;
    /// Refers to elements that must stay where they are.
    VectorRef(T* data, int size) : data_(data), size_(size), capacity_(size) {}
    /// Makes a deep copy in the arena.
    VectorRef(Arena& arena, VectorRef const& other) { append_deep(arena, other.begin(), other.size_); }

    T* begin() { return data_; }
    T* end() { return data_ + size_; }
    T const* begin() const { return data_; }
    T const* end() const { return data_ + size_; }
    auto rbegin() const { return std::reverse_iterator(end()); }
    auto rend() const { return std::reverse_iterator(begin()); }
    int size() const { return size_; }
    int capacity() const { return capacity_; }
    bool empty() const { return size_ == 0; }

    T& operator[](int index) { return data_[checked(index)]; }
    T const& operator[](int index) const { return data_[checked(index)]; }
    T& front() { return *nonEmpty().data_; }
    T const& front() const { return *nonEmpty().data_; }
    T& back() { return nonEmpty().data_[size_ - 1]; }
    T const& back() const { return nonEmpty().data_[size_ - 1]; }

    /// Returns the elements from `begin` to before `end`, without a copy.
    VectorRef slice(int begin, int end) const {
        FLOW_ASSERT(begin >= 0 && begin <= end && end <= size_, "VectorRef::slice() out of range");
        return {data_ + begin, end - begin};
    }

    void reserve(Arena& arena, int capacity) {
        if (capacity > capacity_)
            grow(arena, capacity);
    }
    /// Changes the size. New elements are value-initialised.
    void resize(Arena& arena, int size) {
        FLOW_ASSERT(size >= 0, "VectorRef::resize() to a negative size");
        reserve(arena, size);
        for (int i = size_; i < size; ++i)
            ::new (static_cast<void*>(data_ + i)) T();
        size_ = size;
    }

    void push_back(Arena& arena, T const& value) { emplace_back(arena, value); }
    /// Appends a copy of `value`, and copies the memory to which `value` refers into the arena.
    void push_back_deep(Arena& arena, T const& value) { emplace_back(arena, deepCopy(arena, value)); }
    template <class... Args>
    T& emplace_back(Arena& arena, Args&&... args) {
        T made(std::forward<Args>(args)...); // made first: an argument may be an element, which grow() moves
        if (size_ == capacity_)
            grow(arena, size_ + 1);
        return *::new (static_cast<void*>(data_ + size_++)) T(std::move(made));
    }
    template <class... Args>
    T& emplace_back_deep(Arena& arena, Args&&... args) {
        return emplace_back(arena, arena, std::forward<Args>(args)...);
    }
    template <class Iterator>
    void append(Arena& arena, Iterator first, int count) {
        appendEach(arena, count, [&]() -> decltype(auto) { return *first++; });
    }
    template <class Iterator>
    void append_deep(Arena& arena, Iterator first, int count) {
        appendEach(arena, count, [&] { return deepCopy(arena, static_cast<T const&>(*first++)); });
    }

    void pop_back() { nonEmpty(), --size_; }
    /// Drops the first `count` elements; their memory stays with the arena.
    void pop_front(int count = 1) {
        FLOW_ASSERT(count >= 0 && count <= size_, "VectorRef::pop_front() of more than there is");
        data_ += count;
        size_ -= count;
        capacity_ -= count;
    }
    void clear() { size_ = 0; }

    /// Returns the number of bytes of the elements.
    std::size_t expectedSize() const { return static_cast<std::size_t>(size_) * sizeof(T); }

    friend bool operator==(VectorRef const& a, VectorRef const& b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }
    friend auto operator<=>(VectorRef const& a, VectorRef const& b)
        requires std::three_way_comparable<T>
    {
        return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end());
    }

private:
    template <class Next>
    void appendEach(Arena& arena, int count, Next next) {
        FLOW_ASSERT(count >= 0, "VectorRef::append() of a negative number");
        VectorRef grown = *this; // a copy: next() may read elements of this VectorRef
        if (size_ + count > capacity_)
            grown.grow(arena, size_ + count);
        for (int i = 0; i < count; ++i)
            ::new (static_cast<void*>(grown.data_ + grown.size_++)) T(next());
        *this = grown;
    }
    void grow(Arena& arena, int least) {
        static_assert(std::is_trivially_destructible_v<T>, "elements of a VectorRef are never destroyed");
        int capacity = std::max({least, capacity_ < (1 << 30) ? 2 * capacity_ : least, 4});
        auto more = static_cast<std::size_t>(capacity - capacity_) * sizeof(T);
        if (capacity_ > 0 && arena.extend(data_ + capacity_, more)) {
            capacity_ = capacity;
            return;
        }
        static_assert(alignof(T) <= 16, "memory of an arena is aligned to 16 bytes");
        auto* moved = static_cast<T*>(arena.allocate(static_cast<std::size_t>(capacity) * sizeof(T), alignof(T)));
        std::uninitialized_copy(begin(), end(), moved);
        data_ = moved;
        capacity_ = capacity;
    }
    int checked(int index) const {
        FLOW_CHECK(index >= 0 && index < size_, "VectorRef: index out of range");
        return index;
    }
    VectorRef& nonEmpty() {
        FLOW_ASSERT(size_ > 0, "an empty VectorRef has no first or last element");
        return *this;
    }
    VectorRef const& nonEmpty() const { return const_cast<VectorRef*>(this)->nonEmpty(); }

    T* data_ = nullptr;
    int size_ = 0;
    int capacity_ = 0;
};

} // namespace flow
