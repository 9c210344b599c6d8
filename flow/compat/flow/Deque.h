#pragma once
// Deque under the old header name: a queue with two ends.
//
//     Deque<int> numbers{1, 2};
//     numbers.push_back(3);
//     numbers.pop_front();                                     // 2, 3
//
// It is a std::deque. An empty one takes memory, and references to elements outlive a push_back(), unlike Flow's.

#include <cstddef>
#include <deque>

template <class T>
class Deque : public std::deque<T> {
public:
    using std::deque<T>::deque;

    /// The number of elements that fit before it allocates: its size.
    std::size_t capacity() const { return this->size(); }
};
