#pragma once
// forEachBlock(): visits the blocks of this thread's memory, for reports about memory in use.
//
//     memory::forEachBlock([](void* block, std::size_t bytes) { ... });
//
// It visits the blocks of every span that has been cut into blocks, live and free ones, so `visit` must recognise the
// blocks that it is for by their content. It visits blocks of this thread's memory that other threads hold. It does not
// visit blocks of other threads' memory, nor blocks above kLargestBlock. `visit` must neither take nor free blocks.

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
