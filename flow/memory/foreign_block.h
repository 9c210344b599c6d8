#pragma once
// ForeignBlock: a block for a result cell that comes from a std::pmr::memory_resource and returns to it.
//
//     void* block = ForeignBlock::allocate(resource, bytes);    // 16 bytes more are taken from the resource
//     memory::release(block, kForeignClass);                    // gives all of them back
//
// The data that its release needs is in front of the block. FastAllocator finds the class kForeignClass on the slow
// path of release(), so that its own blocks pay nothing for this. Throws what the resource throws. Thread rules are
// those of the resource, which must outlive its blocks.

#include "flow/memory/fast_allocator.h"

#include <cstddef>
#include <memory_resource>
#include <new>

namespace flow::memory {

class alignas(16) ForeignBlock {
public:
    static constexpr std::size_t kAlignment = 16;

    /// At least `bytes` bytes, aligned to 16.
    static void* allocate(std::pmr::memory_resource& memory, std::size_t bytes) {
        std::size_t all = sizeof(ForeignBlock) + bytes;
        return ::new (memory.allocate(all, kAlignment)) ForeignBlock(memory, all) + 1;
    }
    static ForeignBlock* of(void* block) noexcept { return static_cast<ForeignBlock*>(block) - 1; }

    /// The same as memory::release(block, kForeignClass), for a caller for which the class is a constant.
    void release() noexcept { memory_->deallocate(this, bytes_, kAlignment); }

    std::pmr::memory_resource& memory() const noexcept { return *memory_; }
    /// All that was taken from the resource.
    std::size_t bytes() const noexcept { return bytes_; }

private:
    ForeignBlock(std::pmr::memory_resource& memory, std::size_t bytes) : memory_(&memory), bytes_(bytes) {}

    std::pmr::memory_resource* memory_;
    std::size_t bytes_;
};
static_assert(sizeof(ForeignBlock) == 16);

} // namespace flow::memory
