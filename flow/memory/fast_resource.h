#pragma once
// fastMemory(): FastAllocator as a std::pmr::memory_resource.
//
//     std::pmr::vector<int> numbers(&fastMemory());
//     Environment environment(fastMemory());          // flow/tasks/context.h
//
// This one object serves all threads. Each thread takes blocks from its own free lists. A block may be freed on another
// thread. std::pmr::new_delete_resource() provides the blocks with an alignment above 64 bytes, and the blocks above
// 4096 bytes with an alignment above 16 bytes. allocate() throws std::bad_alloc.

#include "flow/memory/fast_allocator.h"

#include <memory_resource>

namespace flow {
namespace memory {

class FastResource final : public std::pmr::memory_resource {
private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        if (alignment > 16) [[unlikely]]
            return allocateAligned(bytes, alignment);
        return memory::allocate(bytes);
    }
    void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override {
        if (alignment > 16) [[unlikely]]
            return releaseAligned(block, bytes, alignment);
        memory::release(block, sizeClassOf(bytes));
    }
    static bool isAlignedBySize(std::size_t bytes, std::size_t alignment) {
        return alignment <= kMostAlignment && bytes <= kLargestBlock;
    }
    static void* allocateAligned(std::size_t bytes, std::size_t alignment) {
        return isAlignedBySize(bytes, alignment) ? memory::allocate(roundUp(bytes, alignment))
                                                 : std::pmr::new_delete_resource()->allocate(bytes, alignment);
    }
    static void releaseAligned(void* block, std::size_t bytes, std::size_t alignment) noexcept {
        if (isAlignedBySize(bytes, alignment))
            memory::release(block, sizeClassOf(roundUp(bytes, alignment)));
        else
            std::pmr::new_delete_resource()->deallocate(block, bytes, alignment);
    }
    bool do_is_equal(memory_resource const& other) const noexcept override { return this == &other; }
};

inline constinit FastResource fastResource;

} // namespace memory

inline std::pmr::memory_resource& fastMemory() {
    return memory::fastResource;
}

} // namespace flow
