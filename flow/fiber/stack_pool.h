#pragma once
// The stacks of fibers: mapped memory with a guard page below, kept in a pool for each thread.
//
//     Stack stack = takeStack(256 << 10);
//     ... run something that ends on it ...
//     giveBack(stack);
//
// A stack that is given back is kept for the next fiber of that size, up to setPooledStacks() of each size; what is
// more goes back to the system. Of the kept ones all but a few lose the memory that they used, and keep its addresses.

#include <cstddef>

namespace flow::fiber {

namespace detail {

struct Stack {
    char* memory = nullptr; // begins with the guard page
    std::size_t bytes = 0;  // without the guard page

    char* begin() const;
    char* end() const { return begin() + bytes; }
};

/// At least that many bytes. Throws std::bad_alloc.
Stack takeStack(std::size_t bytes);
void giveBack(Stack stack) noexcept;

/// Bytes of a stack that are memory at present: the most that was in use since it was mapped or emptied, in whole
/// pages.
std::size_t residentBytes(Stack stack);

} // namespace detail

/// How many unused stacks of each size this thread keeps; 64 unless this is called.
void setPooledStacks(std::size_t count);

} // namespace flow::fiber
