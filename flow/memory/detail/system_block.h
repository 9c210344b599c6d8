#pragma once
// System blocks: blocks that FastAllocator takes from the system one by one; with AddressSanitizer, all blocks.
//
//     void* block = detail::systemAllocate(bytes);      // null if there is no memory
//     detail::systemFree(block);
//
// Under AddressSanitizer each block has a header that links the block into a list. forEachSystemBlock() walks that
// list. Without AddressSanitizer, systemAllocate() calls posix_memalign(), and systemFree() calls free().

#include "flow/memory/fast_allocator.h"

#include <cstdlib>

namespace flow::memory::detail {

#if FLOW_SYSTEM_BLOCKS
void* systemAllocate(std::size_t bytes) noexcept;
void systemFree(void* block) noexcept;
/// Returns the number of bytes with which systemAllocate() was called.
std::size_t systemBytes(void* block) noexcept;
/// Calls visit(context, block, bytes) for each block that this thread has taken and that has not been freed.
void forEachSystemBlock(void (*visit)(void* context, void* block, std::size_t bytes), void* context);
#else
inline void* systemAllocate(std::size_t bytes) noexcept {
    void* block = nullptr;
    return ::posix_memalign(&block, kMostAlignment, bytes) == 0 ? block : nullptr;
}
inline void systemFree(void* block) noexcept {
    std::free(block);
}
#endif

} // namespace flow::memory::detail
