#pragma once
// PaddedBlock: the header in front of a Cell (flow/core/cell.h) that is not at the beginning of its block, because the
// coroutine frame behind the cell needs an alignment above 16 bytes.
//
//     void* block = memory::allocateCell(bytes, padding + prefixBytes);      // `padding` is a multiple of 16, not 0
//     void* place = PaddedBlock::make(block, padding, sizeClassOf(bytes));   // `padding` bytes behind `block`
//     memory::release(place, kPaddedClass);                                  // gives back the block
//
// memory::release() tests for kPaddedClass only on its slow path, so the test costs nothing for other blocks.

#include "flow/memory/fast_allocator.h"

#include <cstddef>
#include <cstdint>
#include <new>

namespace flow::memory {

struct alignas(16) PaddedBlock {
    std::uint16_t padding; // the number of bytes between the beginning of the block and the cell, including this header
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
