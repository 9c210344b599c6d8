#include "flow/memory/allocation_failure.h"

#include "flow/base/assert.h"

#include <utility>

namespace flow {

using memory::detail::FreeBlock;
using memory::detail::heap;

AllocationFailure::AllocationFailure(std::uint64_t n) : n_(n) {
    FLOW_ASSERT(!detail::allocationFailure, "an AllocationFailure is made while this thread has another");
    for (std::size_t c = 0; c < memory::kClassCount; ++c) {
        auto& list = heap.classes[c];
        lists_[c] = std::exchange(list.first, nullptr);
        list.freedThen = list.freed() + 1; // every release comes to `release` too
        list.toBeFreed = 1;
    }
    detail::allocationFailure = this;
}

AllocationFailure::~AllocationFailure() {
    detail::allocationFailure = nullptr;
    for (std::size_t c = 0; c < memory::kClassCount; ++c)
        heap.classes[c].first = lists_[c];
}

void* AllocationFailure::allocate(std::size_t bytes) {
    if (allocationFails())
        throw std::bad_alloc();
    struct Restored {
        AllocationFailure* self;
        explicit Restored(AllocationFailure* failure) : self(failure) { swap(); }
        ~Restored() { swap(); }
        void swap() {
            detail::allocationFailure = detail::allocationFailure ? nullptr : self;
            for (std::size_t c = 0; c < memory::kClassCount; ++c)
                std::swap(heap.classes[c].first, self->lists_[c]);
        }
    } restored(this);
    return memory::allocate(bytes);
}

void AllocationFailure::release(void* block, memory::SizeClass sizeClass) noexcept {
    auto& list = heap.classes[sizeClass];
    list.toBeFreed = 1;
    ++list.freedThen;
    lists_[sizeClass] = ::new (block) FreeBlock{lists_[sizeClass]};
}

} // namespace flow
