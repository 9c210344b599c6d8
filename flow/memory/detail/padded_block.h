#pragma once
// PaddedBlock: the header in front of a result cell that is not at the beginning of its block, because the frame behind
// the cell needs an alignment above 16 bytes.
//
//     void* block = memory::allocateCell(bytes, padding + prefixBytes);      // `padding` is a multiple of 16, not 0
//     void* place = PaddedBlock::make(block, padding, sizeClassOf(bytes));   // `padding` bytes behind `block`
//     memory::release(place, kPaddedClass);                                  // gives back the block
//
// memory::release() tests for kPaddedClass only on its slow path, so other blocks cost no more.

#include "flow/memory/fast_allocator.h"

#include <cstddef>
#include <cstdint>
#include <new>

namespace flow::memory {

struct alignas(16) PaddedBlock {
    std::uint16_t padding; // the number of bytes in front of the cell. This header is the last of them
    SizeClass sizeClass;   // the class of the block

    static void* make(void* block, std::size_t padding, SizeClass sizeClass) noexcept {
        void* header = static_cast<char*>(block) + padding - sizeof(PaddedBlock);
        return ::new (header) PaddedBlock{static_cast<std::uint16_t>(padding), sizeClass} + 1;
    }
    static PaddedBlock* of(void* place) noexcept { return static_cast<PaddedBlock*>(place) - 1; }

    char* block() noexcept { return reinterpret_cast<char*>(this + 1) - padding; }
    void release() noexcept { memory::release(block(), sizeClass); }
};
static_assert(sizeof(PaddedBlock) == 16);

} // namespace flow::memory
