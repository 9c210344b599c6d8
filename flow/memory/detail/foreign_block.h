#pragma once
// ForeignBlock: the header of a block that a std::pmr::memory_resource provides for a task or fork.
//
//     void* block = ForeignBlock::allocate(resource, bytes);    // takes 16 bytes more from the resource
//     memory::release(block, kForeignClass);                    // gives all bytes back
//     ForeignBlock::allocate(resource, bytes, 48, 32);          // the address 48 bytes behind `block` is aligned to 32
//
// The header in front of the block says how to release the block. memory::release() tests for kForeignClass only on its
// slow path, so the test costs nothing for other blocks. allocate() throws the exceptions of the resource. The resource
// decides on which threads its blocks may be taken and released. The resource must outlive its blocks.

#include "flow/memory/fast_allocator.h"

#include <cstddef>
#include <memory_resource>
#include <new>

namespace flow::memory {

class alignas(16) ForeignBlock {
public:
    /// Returns a block of at least `bytes` bytes, aligned to 16. The address `head` bytes behind the beginning
    /// of the block is aligned to `alignment`. `head` is a multiple of 16.
    static void* allocate(std::pmr::memory_resource& memory, std::size_t bytes, std::size_t head = 0,
                          std::size_t alignment = 16) {
        std::size_t padding = sizeof(ForeignBlock) + (-(sizeof(ForeignBlock) + head) & (alignment - 1));
        std::size_t all = padding + bytes;
        char* place = static_cast<char*>(memory.allocate(all, alignment)) + padding - sizeof(ForeignBlock);
        return ::new (place) ForeignBlock(memory, all, alignment, padding) + 1;
    }
    static ForeignBlock* of(void* block) noexcept { return static_cast<ForeignBlock*>(block) - 1; }

    /// Like memory::release(block, kForeignClass), for callers that know the class at compile time.
    void release() noexcept { memory_->deallocate(begin(), bytes_, alignment_); }

    std::pmr::memory_resource& memory() const noexcept { return *memory_; }
    /// Makes release() give the memory to another resource, which passes it on to the first one.
    void setMemory(std::pmr::memory_resource& memory) noexcept { memory_ = &memory; }
    /// Returns the beginning of the memory that was taken from the resource.
    char* begin() noexcept { return reinterpret_cast<char*>(this + 1) - padding; }
    std::size_t bytes() const noexcept { return bytes_; }

private:
    ForeignBlock(std::pmr::memory_resource& memory, std::size_t bytes, std::size_t alignment, std::size_t inFront)
        : memory_(&memory), bytes_(static_cast<std::uint32_t>(bytes)),
          alignment_(static_cast<std::uint16_t>(alignment)), padding(static_cast<std::uint16_t>(inFront)) {}

    std::pmr::memory_resource* memory_;
    std::uint32_t bytes_; // a coroutine frame has less than 4 GiB
    std::uint16_t alignment_;

public:
    std::uint16_t const padding; // bytes in front of the block, including this header
};
static_assert(sizeof(ForeignBlock) == 16);

} // namespace flow::memory
