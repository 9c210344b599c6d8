#pragma once
// Small helpers under the old header name.

#include "../../flow.h"

#include <cstddef>
#include <utility>
#include <vector>

using flow::format;

/// Removes an element, and moves the last one to its position.
template <class T>
void swapAndPop(std::vector<T>* elements, std::size_t index) {
    if (index + 1 != elements->size())
        std::swap((*elements)[index], elements->back());
    elements->pop_back();
}
