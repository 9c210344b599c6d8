#pragma once
// The stacks of fibers: mapped memory with guard pages below, kept in a pool for each thread.
//
//     Stack stack = takeStack(256 << 10);
//     ... run something that ends on it ...
//     giveBack(stack);
//
// A stack that is given back is kept for the next fiber that asks for this size. setPooledStacks() sets the limit of
// the pool; when the pool is full, the stack that has been unused longest is unmapped. The stacks that were given back
// last keep their memory, up to a quarter of the limit. The other stacks keep only their addresses.

#include <cstddef>

namespace flow::fiber {

namespace detail {

/// The size of the guard pages. One page is too small: a function with a large array could reach past this page, into
/// the memory of another stack.
inline constexpr std::size_t kGuardBytes = 64 << 10;

struct Stack {
    char* memory = nullptr; // begins with the guard pages
    std::size_t bytes = 0;  // without the guard pages

    /// Returns the address above the guard pages.
    char* begin() const { return memory + kGuardBytes; }
    char* end() const { return begin() + bytes; }
};

/// Returns a stack with at least `bytes` bytes. Throws std::bad_alloc.
Stack takeStack(std::size_t bytes);
void giveBack(Stack stack) noexcept;

/// Returns the bytes of a stack that are in memory at present, in whole pages. This is the most that was in use since
/// the stack was mapped, or since it lost its memory in the pool.
std::size_t residentBytes(Stack stack);

} // namespace detail

/// Sets the number of unused stacks that this thread keeps. Stacks of all sizes count. A quarter of this number keep
/// their memory. The default is 64. Throws std::bad_alloc.
void setPooledStacks(std::size_t count);

} // namespace flow::fiber
