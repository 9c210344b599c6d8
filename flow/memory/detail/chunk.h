#pragma once
// Chunk: a piece of memory that a ThreadHeap takes from the system. A chunk begins with the data that the ThreadHeap
// keeps about the chunk. flow/memory/detail/thread_heap.h says what spans and sorted blocks are.

#include "flow/memory/fast_allocator.h"

#include <atomic>

namespace flow::memory::detail {

class ThreadHeap;

inline constexpr std::size_t kChunkBytes = 256 * 1024;
inline constexpr std::size_t kSpanBytes = 16 * 1024;
inline constexpr std::size_t kSpans = kChunkBytes / kSpanBytes;
inline constexpr std::size_t kHugeBytes = 2 * 1024 * 1024;

/// The head of a chunk. A chunk is aligned to kChunkBytes.
struct Chunk {
    struct Span {
        Span* next;         // the next span with sorted blocks of the same class
        Span** place;       // the pointer in the list that points to this span
        FreeBlock* blocks;  // the list of sorted blocks
        std::uint16_t free; // the number of `blocks`; 0 in an unused span
        std::uint16_t capacity;
        SizeClass sizeClass;
    };

    static constexpr std::size_t kHeader = 576; // where the first span begins
    // Members, for the debuggers: gcc leaves a constant of a namespace out of the debug information if it is only read.
    static constexpr std::size_t kBytes = kChunkBytes, kBytesOfSpan = kSpanBytes;

    std::atomic<ThreadHeap*> owner; // changes under thread_heap.cpp's mutex, to or from ThreadHeap::abandoned
    Chunk* next;
    std::uint32_t unusedSpans;
    Span spans[kSpans];

    static Chunk* of(void* place) {
        return reinterpret_cast<Chunk*>(reinterpret_cast<std::uintptr_t>(place) & ~(kChunkBytes - 1));
    }
    std::size_t indexOf(void* place) const {
        return (reinterpret_cast<std::uintptr_t>(place) & (kChunkBytes - 1)) / kSpanBytes;
    }
    char* begin(std::size_t span) {
        static_assert(sizeof(Chunk) <= kHeader);
        return reinterpret_cast<char*>(this) + (span == 0 ? kHeader : span * kSpanBytes);
    }
    char* end(std::size_t span) { return reinterpret_cast<char*>(this) + (span + 1) * kSpanBytes; }
};

/// Maps `bytes` bytes, aligned to `bytes`. `bytes` must be a power of two. Returns null if the system has no memory.
void* mapAligned(std::size_t bytes) noexcept;
void unmap(void* place, std::size_t bytes) noexcept;
/// Asks for huge pages. If the system has none, nothing changes.
void wishForHugePages(void* place, std::size_t bytes) noexcept;

} // namespace flow::memory::detail
