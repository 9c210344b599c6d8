#include "flow/memory/fast_allocator.h"

#include "flow/memory/allocation_watch.h"
#include "flow/memory/detail/foreign_block.h"
#include "flow/memory/detail/kept_exception.h"
#include "flow/memory/detail/padded_block.h"
#include "flow/memory/detail/system_block.h"
#include "flow/memory/detail/thread_heap.h"

namespace flow::memory {

void detail::throwBadAlloc() {
    throw std::bad_alloc();
}

void* detail::allocateSlow(std::size_t bytes, SizeClass sizeClass) noexcept {
    if (watch)
        return AllocationWatch::allocate(bytes, sizeClass, AllocationWatch::kNoCell);
    FreeList& list = heap.classes[sizeClass];
    if (FLOW_SYSTEM_BLOCKS || sizeClass == kSystemClass) {
        void* block = systemAllocate(bytes);
        if (block)
            ++list.allocated;
        return block;
    }
    ThreadHeap* owner = ThreadHeap::current();
    FreeBlock* block = owner ? owner->supply(sizeClass) : nullptr;
    if (!block)
        return nullptr;
    list.first = block->next;
    ++list.allocated;
    return block;
}

void* detail::allocateCellSlow(std::size_t bytes, SizeClass sizeClass, std::size_t prefixBytes) noexcept {
    return watch ? AllocationWatch::allocate(bytes, sizeClass, prefixBytes) : allocateSlow(bytes, sizeClass);
}

void detail::releaseSlow(void* block, SizeClass sizeClass) noexcept {
    if (sizeClass > kSystemClass) {
        heap.classes[sizeClass].toBeFreed = 1;
        if (sizeClass == kKeepingClass) // the exception's destructor may run any code, but none that reads the block
            return memory::release(block, KeptException::remove(block));
        return sizeClass == kPaddedClass ? PaddedBlock::of(block)->release() : ForeignBlock::of(block)->release();
    }
    if (watch)
        return AllocationWatch::release(block, sizeClass);
    FreeList& list = heap.classes[sizeClass];
    if (FLOW_SYSTEM_BLOCKS || sizeClass == kSystemClass) {
        list.toBeFreed = 1;
        ++list.freedThen;
        return systemFree(block);
    }
    list.first = ::new (block) FreeBlock{list.first};
    list.toBeFreed = ThreadHeap::freesBetween(sizeClass);
    list.freedThen += list.toBeFreed;
    if (ThreadHeap* owner = ThreadHeap::current())
        owner->separateRemote(sizeClass);
}

Statistics statistics(SizeClass sizeClass) noexcept {
    auto const& list = detail::heap.classes[sizeClass];
    return {blockBytes(sizeClass), list.allocated, list.freed()};
}

Statistics totalStatistics() noexcept {
    Statistics total;
    for (auto const& list : detail::heap.classes) {
        total.allocated += list.allocated;
        total.freed += list.freed();
    }
    return total;
}

Usage usage() noexcept {
    Usage usage;
    if (detail::ThreadHeap* owner = FLOW_SYSTEM_BLOCKS ? nullptr : detail::ThreadHeap::current())
        owner->addTo(usage);
    for (std::size_t c = 0; c < kSystemClass; ++c)
        usage.live += statistics(static_cast<SizeClass>(c)).liveBytes();
    return usage;
}

std::size_t trim() noexcept {
    detail::ThreadHeap* owner = FLOW_SYSTEM_BLOCKS ? nullptr : detail::ThreadHeap::current();
    return owner ? owner->trim() : 0;
}

} // namespace flow::memory
