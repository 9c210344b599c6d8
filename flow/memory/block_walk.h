#pragma once
// Walks the blocks of this thread's memory, for reports about memory in use.
//
//     memory::forEachBlock([](void* block, std::size_t bytes) { ... });
//
// It visits each block of every span that has been cut, whether it is live or free. It is for blocks that can be
// recognised by their content. Blocks above kLargestBlock, and those that this thread holds of other threads' memory,
// are not visited; blocks of this memory that other threads hold are. `visit` must neither take nor free any.

#include "flow/memory/system_block.h"
#include "flow/memory/thread_heap.h"

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
