#pragma once
// KeptException: an exception that is destroyed together with a block of memory. A future that has failed with an
// exception that is no Error keeps the exception: see flow/core/detail/kept_exception.h.
//
//     KeptException::keep(block, sizeClass, mark, exception);         // sets `sizeClass` to kKeepingClass
//     std::exception_ptr same = KeptException::find(block, mark);
//     memory::release(block, sizeClass);                              // releases both
//
// One table for all threads has the exceptions, under the addresses of their blocks. A block without an exception has
// no room for one, and its release costs nothing more: memory::release() tests for kKeepingClass only on its slow path.
// A block of kForeignClass keeps its class; its exception is released when the resource gets the block back.

#include "flow/memory/fast_allocator.h"

#include <cstdint>
#include <exception>

namespace flow::memory {

struct KeptException {
    /// Keeps the exception for the block, and drops an earlier one. `mark` is any number. If no memory is left, does
    /// nothing.
    static void keep(void* block, SizeClass& sizeClass, std::uint32_t mark, std::exception_ptr exception) noexcept;
    /// Returns the exception that the block keeps with this mark, or null.
    static std::exception_ptr find(void const* block, std::uint32_t mark) noexcept;
    /// Drops the exception, but not its place in the table.
    static void clear(void const* block) noexcept;
    /// Returns the class that the block had before keep(); 0 if the table has no such block.
    static SizeClass classOf(void const* block) noexcept;
    /// Removes the block from the table, and returns its class. To be called when nothing reads the block any more.
    static SizeClass remove(void const* block) noexcept;

    /// The number of blocks for which this thread has called keep(), minus the number for which it has called remove().
    /// It may be too large or too small: a block can be released on another thread.
    static inline constinit thread_local std::uint32_t blocksOfThread = 0;

    std::exception_ptr exception;
    std::uint32_t mark = 0;
    SizeClass sizeClass = 0;
};

} // namespace flow::memory
