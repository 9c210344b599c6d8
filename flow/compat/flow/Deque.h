#pragma once
// Deque under the old header name: a queue with two ends.
//
//     Deque<int> numbers{1, 2};
//     numbers.push_back(3);
//     numbers.pop_front();                                     // 2, 3
//
// A Deque is a std::deque. Unlike Flow's Deque, an empty Deque takes memory, and references to elements stay valid
// after push_back().

#include <cstddef>
#include <deque>

template <class T>
class Deque : public std::deque<T> {
public:
    using std::deque<T>::deque;

    /// Returns the size: further elements may need an allocation.
    std::size_t capacity() const { return this->size(); }
};
