#pragma once
// ThreadHeap: the slow path of FastAllocator. It fills the free lists of a thread, and empties them when they get long.
//
// The system gives chunks of 256 KiB. A chunk belongs to one ThreadHeap and is cut into 16 spans. A span is unused, or
// it is cut into blocks of one class. The states of a block, and of a span:
//
//                  allocate()                      release(), on any thread
//     free list -----------------> in use (live) -------------------> free list of the releasing thread
//       ^   |                                                             |
//       |   | sort: too much is free                                      | a scan finds foreign blocks
//       |   v                                                             v
//       | sorted: free, in its span                                    outgoing: collected for its thread heap
//       |   |                                                             |
//       |   | all blocks of the span are sorted                           | 16 KiB of one class are sent together
//       |   v                                                             v
//       | unused span -----> trim(): the system                        remote-free list of its thread heap, in batches
//       |   |                                                             |
//       +---+-----------------------<-------------------------------------+
//       supply() takes in this order: the remote-free list, sorted blocks, an unused span, a new chunk of the system
//
// When a thread ends, its memory goes to the heap `abandoned`. The next thread that lacks free memory takes all of it.
//
// A thread that holds 8 MiB takes eight chunks at a time, as one huge page if the system has huge pages. Without huge
// pages, a program with some hundred thousand actors spends most of its time on misses of the TLB.
//
// A free list is in the order of the releases. Sorting moves blocks from the free list to their spans. One step sorts
// 128 KiB, so no call takes long. A foreign block is a block of another thread's chunk.
//
// Bounds, for each thread:
// - While free lists and remote-free lists hold more than 256 KiB, the thread sorts 128 KiB for each new 16 KiB span.
//   So until all free memory is sorted and can serve every class, the thread takes at most 1/8 as much new memory.
// - A thread keeps up to 32 KiB of foreign blocks in each class. If they are so rare that scans of one block in eight
//   miss them, the thread keeps more: up to the largest number of its own blocks that its free list has ever held.
// - A thread that takes eight chunks at a time holds up to 2 MiB that no block has needed yet.
// - A class in use holds at least one span of 16 KiB; the ends of spans waste an eighth at most.

#include "flow/memory/detail/chunk.h"
#include "flow/memory/fast_allocator.h"

#include <atomic>

namespace flow::memory::detail {

inline constexpr std::size_t kSortBytes = 128 * 1024;
/// A thread that holds this number of bytes takes eight chunks at a time.
inline constexpr std::size_t kBytesOfMany = 8 * 1024 * 1024;

/// A list of blocks of one class on their way to their ThreadHeap. The first block also links to the next batch.
struct Batch : FreeBlock {
    Batch* nextBatch;
};
static_assert(sizeof(Batch) <= blockBytes(1));

class ThreadHeap {
public:
    /// Returns the heap of this thread. The first call takes an idle heap or makes a new one, and returns null if there
    /// is no memory. When the thread ends, the heap becomes idle and its chunks go to `abandoned`.
    static ThreadHeap* current() noexcept;

    /// Returns a list of blocks for a free list that is empty. Returns null, and takes nothing, if there is no memory.
    FreeBlock* supply(SizeClass sizeClass) noexcept;
    /// Takes foreign blocks out of the free list and sends them back. To be called once every freesBetween() releases.
    void separateRemote(SizeClass sizeClass) noexcept;
    static constexpr std::uint64_t freesBetween(SizeClass sizeClass) { return kScanBytes / blockBytes(sizeClass); }
    /// Gives chunks without live blocks to the system. Returns the number of bytes of these chunks.
    std::size_t trim() noexcept;
    void addTo(Usage& usage) const noexcept;
    /// Calls visit(block, sizeClass) for each block of this thread's chunks that has been cut, live or free.
    template <class Visit>
    void forEachBlock(Visit&& visit) const {
        for (Chunk* chunk = chunks_; chunk; chunk = chunk->next)
            for (std::size_t i = 0; i < kSpans; ++i) {
                Chunk::Span const& span = chunk->spans[i];
                std::size_t bytes = blockBytes(span.sizeClass);
                char* block = chunk->begin(i);
                for (std::size_t left = span.capacity; left != 0; --left, block += bytes)
                    visit(static_cast<void*>(block), span.sizeClass);
            }
    }

    /// Returns the number of 16-byte units of this thread's chunks up to `block`, the oldest chunk first; 0 for a block
    /// that is in none of them.
    std::size_t numberOf(void const* block) const {
        std::size_t number = 0;
        for (Chunk const* chunk = chunks_; chunk; chunk = chunk->next) {
            auto offset = reinterpret_cast<std::uintptr_t>(block) - reinterpret_cast<std::uintptr_t>(chunk);
            if (number != 0)
                number += kChunkBytes / 16;
            else if (offset < kChunkBytes)
                number = offset / 16;
        }
        return number;
    }

private:
    static constexpr std::size_t kScanBytes = 16 * 1024;
    static constexpr std::size_t kSendBytes = 16 * 1024;
    static constexpr std::size_t kMayBeUnsorted = kChunkBytes;

    struct Ledger {
        std::int64_t stock;  // blocks put into the free list without a release, minus those taken without an allocation
        Batch* remote;       // used under the mutex of thread_heap.cpp
        FreeBlock* outgoing; // blocks of other heaps' chunks
        std::size_t outgoingCount;
        Chunk::Span* sorted;  // spans with sorted blocks; their other blocks are in use or not sorted
        std::int64_t length;  // the length of the free list when its sorting began
        std::int64_t toSort;  // the number of blocks that this sorting has not reached yet
        int pendingFullScans; // full scans left to do (instead of 1-in-8 samples) after a foreign block was found
    };
    struct UnusedSpan {
        UnusedSpan* next;
    };

    static ThreadHeap* acquire() noexcept;
    static void leave(void* self) noexcept;

    FreeBlock* takeFree(SizeClass sizeClass) noexcept;
    FreeBlock* takeRemote(SizeClass sizeClass) noexcept;
    void addRemote(SizeClass sizeClass, FreeBlock* first, std::size_t count) noexcept;
    void takeRemoteOf(ThreadHeap& other) noexcept;
    void returnBlocks(SizeClass sizeClass) noexcept;

    void sort(SizeClass sizeClass, std::size_t most) noexcept;
    void sortSome() noexcept;
    void sortAll() noexcept;
    void list(Chunk::Span& span) noexcept;
    FreeBlock* takeBlocks(Chunk::Span& span) noexcept;
    bool adoptAbandoned() noexcept;
    bool addMemory() noexcept;
    bool addChunks(std::size_t bytes) noexcept;
    FreeBlock* carve(SizeClass sizeClass) noexcept;
    std::size_t unmapUnused() noexcept;
    void addUnused(Chunk* chunk, std::size_t span) noexcept;

    std::size_t listBytes(SizeClass sizeClass) const noexcept;
    std::size_t unsortedBytes() const noexcept;

    static ThreadHeap abandoned; // owns the chunks of ended threads

    Chunk* chunks_ = nullptr;
    UnusedSpan* unused_ = nullptr;
    std::size_t unusedCount_ = 0;
    std::size_t chunkCount_ = 0;
    std::size_t sortedBytes_ = 0;
    bool isSorting_ = false;                  // a sort has begun; it goes on to the last block, which may free a span
    std::atomic<std::uint64_t> hasRemote_{0}; // a bit for each class with remote blocks
    std::atomic<std::size_t> remoteBytes_{0};
    ThreadHeap* nextIdle_ = nullptr;
    Ledger ledgers_[kClassCount] = {};
};

inline void push(FreeBlock*& list, FreeBlock* block) {
    block->next = list;
    list = block;
}

} // namespace flow::memory::detail
