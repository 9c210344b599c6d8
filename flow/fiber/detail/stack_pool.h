#pragma once
// The stacks of fibers: mapped memory with guard pages below. Each thread keeps a pool of unused stacks.
//
//     Stack stack = takeStack(256 << 10);
//     ... run something that ends on it ...
//     giveBack(stack);
//
// giveBack() keeps the stack for the next takeStack() of this size. setPooledStacks() sets the limit of the pool. When
// the pool is full, the stack that has been unused longest is unmapped. The newest unused stacks keep their memory, up
// to a quarter of the limit. The other stacks keep only their addresses.

#include <cstddef>

namespace flow::fiber {

namespace detail {

/// The size of the guard pages. One page is too small: a function with a large array could reach past it.
inline constexpr std::size_t kGuardBytes = 64 << 10;

struct Stack {
    char* memory = nullptr; // begins with the guard pages
    std::size_t bytes = 0;  // without the guard pages

    char* begin() const { return memory + kGuardBytes; }
    char* end() const { return begin() + bytes; }
};

/// Returns a stack with at least `bytes` bytes. Throws std::bad_alloc.
Stack takeStack(std::size_t bytes);
void giveBack(Stack stack) noexcept;

/// Returns the bytes of a stack that are in memory, in whole pages: the most that was used since it got memory.
std::size_t residentBytes(Stack stack);

} // namespace detail

/// Sets the maximum of unused stacks, of all sizes, that this thread keeps; the default is 64. A quarter of them keep
/// their memory. Throws std::bad_alloc.
void setPooledStacks(std::size_t count);

} // namespace flow::fiber
