#pragma once
// The stacks of fibers: mapped memory with guard pages below, kept in a pool for each thread.
//
//     Stack stack = takeStack(256 << 10);
//     ... run something that ends on it ...
//     giveBack(stack);
//
// A stack that is given back is kept for the next fiber that asks for that size. The pool keeps setPooledStacks() of
// them; when it is full, the one that has been unused for longest goes back to the system. The quarter of its stacks
// that was given back last keeps the memory that was used; the others lose it and keep their addresses.

#include <cstddef>

namespace flow::fiber {

namespace detail {

/// More than one page: a function with a large array could reach over it into the memory of another.
inline constexpr std::size_t kGuardBytes = 64 << 10;

struct Stack {
    char* memory = nullptr; // begins with the guard pages
    std::size_t bytes = 0;  // without the guard pages

    /// Above the guard pages.
    char* begin() const { return memory + kGuardBytes; }
    char* end() const { return begin() + bytes; }
};

/// At least that many bytes. Throws std::bad_alloc.
Stack takeStack(std::size_t bytes);
void giveBack(Stack stack) noexcept;

/// Bytes of a stack that are memory at present: the most that was in use since it was mapped or emptied, in whole
/// pages.
std::size_t residentBytes(Stack stack);

} // namespace detail

/// Sets the number of unused stacks that this thread keeps, of all sizes together, a quarter of them with memory; 64
/// unless this is called. Throws std::bad_alloc.
void setPooledStacks(std::size_t count);

} // namespace flow::fiber
