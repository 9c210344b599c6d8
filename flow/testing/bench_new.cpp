// Counts the calls of operator new, so that the allocations of a benchmark leave nothing out. A program that has an
// operator new is linked with its own one, and only blocks of Millrace's allocator are counted.

#include "flow/testing/detail/benchmark_clock.h"

#include <cstdlib>
#include <new>

void* operator new(std::size_t bytes) {
    ++flow::testing::systemAllocations;
    if (void* block = std::malloc(bytes))
        return block;
    throw std::bad_alloc();
}
void operator delete(void* block) noexcept {
    std::free(block);
}
void operator delete(void* block, std::size_t) noexcept {
    std::free(block);
}
