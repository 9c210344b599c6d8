#pragma once
// ThreadHeap: where a thread's blocks come from and where they return to; the side of FastAllocator that is seldom
// reached.
//
// The system gives chunks of 256 KiB. A chunk belongs to one ThreadHeap and is cut into 16 spans; a span holds blocks
// of one class, or is unused and can hold any. A thread that frees blocks of others' chunks keeps them at first; when
// they have become many it sorts its free list and sends them owner, many at a time. They wait there, as remote, until
// their thread runs short. What a thread leaves behind when it ends goes to whoever runs short next.
//
// A thread that holds 8 MiB takes eight chunks at a time, as one huge page where the system has them: otherwise the
// memory of some hundred thousand actors has more pages than the processor can remember.
//
// A free list is in the order of the frees. Sorting takes blocks from it to their spans, where they wait for whoever
// wants that class next; a span whose blocks have all come is unused. It is done 128 KiB at a time, so that nobody
// waits for it long.
//
// Bounds, for each thread:
// - From when free lists and remote have more than 256 KiB until they have nothing, each span that is cut comes with
// the
//   sorting of 128 KiB. So free memory of one class serves another after an eighth of it, at most, has been taken from
//   the system.
// - Of the blocks of other threads it keeps 32 KiB in each class. Where they are so few among its own that samples miss
//   them, it keeps as many more as its free list has ever held of its own.
// - Having taken eight chunks at a time, it holds up to 2 MiB that no block has needed yet.
// - A class in use holds at least one span of 16 KiB; the ends of spans waste an eighth at most.

#include "flow/memory/chunk.h"
#include "flow/memory/fast_allocator.h"

#include <atomic>

namespace flow::memory::detail {

/// How much is sorted at a time.
inline constexpr std::size_t kSortBytes = 128 * 1024;
/// From here on chunks are taken by eights.
inline constexpr std::size_t kBytesOfMany = 8 * 1024 * 1024;

/// Blocks of one class on their way from thread to thread: a list, whose first block links to the next list.
struct Batch : FreeBlock {
    Batch* nextBatch;
};
static_assert(sizeof(Batch) <= blockBytes(1));

class ThreadHeap {
public:
    /// That of this thread, which is made at the first call and dissolved when the thread ends. Null if there is no
    /// memory for it.
    static ThreadHeap* current() noexcept;

    /// Blocks for the class, of which this thread has none left. Null with everything unchanged if there is no memory.
    FreeBlock* supply(SizeClass sizeClass) noexcept;
    /// To be called after each `freesBetween` frees: picks out and sends owner what is not ours.
    void separateRemote(SizeClass sizeClass) noexcept;
    static constexpr std::uint64_t freesBetween(SizeClass sizeClass) { return kScanBytes / blockBytes(sizeClass); }
    /// Gives chunks without live blocks to the system. Returns how many bytes.
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

private:
    static constexpr std::size_t kScanBytes = 16 * 1024;
    static constexpr std::size_t kSendBytes = 16 * 1024;
    static constexpr std::size_t kMayBeUnsorted = kChunkBytes;

    struct Ledger {
        std::int64_t stock;  // blocks that came into the free list other than by being freed here, less those that left
        Batch* remote;       // under the mutex
        FreeBlock* outgoing; // of others' chunks
        std::size_t outgoingCount;
        Chunk::Span* sorted;  // those with free blocks, some of which are not free or not sorted
        std::int64_t length;  // that the list has had, when sorting was begun for it
        std::int64_t toSort;  // blocks, since then
        int pendingFullScans; // looks that are to be thorough, since one has found something
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

    static ThreadHeap abandoned; // owns what ended threads have left

    Chunk* chunks_ = nullptr;
    UnusedSpan* unused_ = nullptr;
    std::size_t unusedCount_ = 0;
    std::size_t chunkCount_ = 0;
    std::size_t sortedBytes_ = 0;
    bool isSorting_ = false;                  // to the end: the last blocks may be those that many spans lack
    std::atomic<std::uint64_t> hasRemote_{0}; // a bit for each class
    std::atomic<std::size_t> remoteBytes_{0};
    ThreadHeap* nextIdle_ = nullptr;
    Ledger ledgers_[kClassCount] = {};
};

/// Takes the block into the list.
inline void push(FreeBlock*& list, FreeBlock* block) {
    block->next = list;
    list = block;
}

} // namespace flow::memory::detail
