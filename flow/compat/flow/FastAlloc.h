#pragma once
// The allocator under the old header name.

#include "../../flow.h"

using flow::FastAllocated;
using flow::FastAllocator;

/// Returns a block of `size` bytes. Throws std::bad_alloc.
inline void* allocateFast(int size) {
    return flow::memory::allocate(static_cast<std::size_t>(size));
}
/// Frees a block of allocateFast(size).
inline void freeFast(int size, void* block) {
    flow::memory::release(block, flow::memory::sizeClassOf(static_cast<std::size_t>(size)));
}
