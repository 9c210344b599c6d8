#pragma once
// forEachBlock(): visits the blocks of this thread's memory, for reports about memory in use.
//
//     memory::forEachBlock([](void* block, std::size_t bytes) { ... });
//
// forEachBlock() visits live and free blocks, also blocks of this thread's memory that another thread holds, but no
// blocks above kLargestBlock. `visit` must recognise its blocks by their content, and must neither take nor free
// blocks. AddressSanitizer builds visit all live blocks that this thread took, and no others.

#include "flow/memory/detail/system_block.h"
#include "flow/memory/detail/thread_heap.h"

namespace flow::memory {

template <class Visit>
void forEachBlock(Visit visit) {
#if FLOW_SYSTEM_BLOCKS
    detail::forEachSystemBlock(
        [](void* context, void* block, std::size_t bytes) { (*static_cast<Visit*>(context))(block, bytes); }, &visit);
#else
    if (detail::ThreadHeap* heap = detail::ThreadHeap::current())
        heap->forEachBlock([&](void* block, SizeClass sizeClass) { visit(block, blockBytes(sizeClass)); });
#endif
}

/// Returns the place of a block in this thread's memory, as a number that is the same in each run of a simulation. Two
/// blocks that exist have different numbers, if both are in this thread's chunks.
inline std::size_t numberOf(void const* block) {
    std::size_t number = 0;
#if !FLOW_SYSTEM_BLOCKS
    if (detail::ThreadHeap* heap = detail::ThreadHeap::current())
        number = heap->numberOf(block);
#endif
    return number != 0 ? number : reinterpret_cast<std::uintptr_t>(block) / 16 % (std::size_t{1} << 20);
}

} // namespace flow::memory
