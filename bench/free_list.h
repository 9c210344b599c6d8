#pragma once
// FreeListAllocator<T>: memory for handlers and frames, as a program with one thread that cares for speed would make
// it: a list of free blocks of one size, which are never given back. Stateless, so that it costs a handler nothing.

#include <cstddef>
#include <new>

namespace bench {

/// Blocks of one size, of the calling thread.
template <std::size_t Bytes>
class FreeList {
public:
    static void* allocate() {
        if (Block* block = first) {
            first = block->next;
            return block;
        }
        return ::operator new(Bytes < sizeof(Block) ? sizeof(Block) : Bytes);
    }
    static void release(void* memory) noexcept {
        auto* block = static_cast<Block*>(memory);
        block->next = first;
        first = block;
    }

private:
    struct Block {
        Block* next;
    };
    static inline constinit thread_local Block* first = nullptr;
};

template <class T>
struct FreeListAllocator {
    using value_type = T;

    FreeListAllocator() = default;
    template <class U>
    FreeListAllocator(FreeListAllocator<U> const&) {}

    T* allocate(std::size_t count) {
        if (count != 1)
            throw std::bad_alloc();
        return static_cast<T*>(FreeList<sizeof(T)>::allocate());
    }
    void deallocate(T* memory, std::size_t) noexcept { FreeList<sizeof(T)>::release(memory); }

    template <class U>
    bool operator==(FreeListAllocator<U> const&) const {
        return true;
    }
};

} // namespace bench
