#pragma once
// forEachBlock(): visits the blocks of this thread's memory, for reports about memory in use.
//
//     memory::forEachBlock([](void* block, std::size_t bytes) { ... });
//
// forEachBlock() visits live and free blocks. `visit` must recognise the blocks that it looks for by their content, and
// must neither take nor free blocks. Blocks of this thread's memory that another thread holds are visited too. Blocks
// above kLargestBlock are not visited. AddressSanitizer builds visit all live blocks that this thread took, no others.

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

} // namespace flow::memory
