#include "flow/memory/allocation_watch.h"

#include "flow/base/assert.h"
#include "flow/memory/detail/system_block.h"

#include <utility>

namespace flow::memory {
using detail::FreeBlock;
using detail::heap;
namespace {

/// Holds the thread's free lists while there is a watch. The lists in `heap` are empty then.
constinit thread_local FreeBlock* setAside[kClassCount] = {};

void swapLists() {
    for (std::size_t c = 0; c < kClassCount; ++c)
        std::swap(heap.classes[c].first, setAside[c]);
}

} // namespace

AllocationWatch::AllocationWatch() : outer_(detail::watch) {
    if (!outer_) {
        swapLists();
        for (auto& list : heap.classes) {
            list.freedThen = list.freed() + 1; // now every release() calls releaseSlow()
            list.toBeFreed = 1;
        }
    }
    detail::watch = this;
}

AllocationWatch::~AllocationWatch() {
    FLOW_ASSERT(detail::watch == this, "an AllocationWatch ends before another that was made later");
    detail::watch = outer_;
    if (!outer_)
        swapLists();
}

void* AllocationWatch::allocate(std::size_t bytes, SizeClass sizeClass, std::size_t prefixBytes) noexcept {
    for (AllocationWatch* each = detail::watch; each; each = each->outer_)
        if (!each->allocating())
            return nullptr;
    void* block;
    if (FreeBlock* first = setAside[sizeClass]; first && !FLOW_SYSTEM_BLOCKS) {
        setAside[sizeClass] = first->next;
        ++heap.classes[sizeClass].allocated;
        block = first;
    } else {
        AllocationWatch* before = std::exchange(detail::watch, nullptr);
        swapLists();
        block = detail::allocateSlow(bytes, sizeClass);
        swapLists();
        detail::watch = before;
    }
    if (!block)
        return nullptr;
    void* cell = prefixBytes == kNoCell ? nullptr : static_cast<char*>(block) + prefixBytes;
    for (AllocationWatch* each = detail::watch; each; each = each->outer_)
        each->allocated(block, cell);
    return block;
}

void AllocationWatch::release(void* block, SizeClass sizeClass) noexcept {
    for (AllocationWatch* each = detail::watch; each; each = each->outer_)
        each->released(block);
    auto& list = heap.classes[sizeClass];
    list.toBeFreed = 1;
    ++list.freedThen;
    if (FLOW_SYSTEM_BLOCKS || sizeClass == kSystemClass)
        detail::systemFree(block);
    else
        setAside[sizeClass] = ::new (block) FreeBlock{setAside[sizeClass]};
}

} // namespace flow::memory
