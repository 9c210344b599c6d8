#pragma once
// Home: where a thread's blocks come from and where they return to; the side of FastAllocator that is seldom reached.
//
// The system gives chunks of 256 KiB. A chunk belongs to one Home and is cut into 16 spans; a span holds blocks of one
// class, or is unused and can hold any. A thread that frees blocks of others' chunks keeps them at first; when they
// have become many it sorts its free list and sends them home, many at a time. They wait there, as mail, until their
// thread runs short. What a thread leaves behind when it ends goes to whoever runs short next.
//
// A thread that holds 8 MiB takes eight chunks at a time, as one huge page where the system has them: otherwise the
// memory of some hundred thousand actors has more pages than the processor can remember.
//
// Bounds, for each thread:
// - Free blocks become unused spans again, for other classes, before memory is taken from the system: unless those in
//   free lists come to less than 256 KiB plus twice what was left there, stuck between live blocks, the last time.
// - Of the blocks of other threads it keeps 32 KiB in each class. Where they are so few among its own that samples miss
//   them, it keeps as many more as its free list has ever held of its own.
// - Having taken eight chunks at a time, it holds up to 2 MiB that no block has needed yet.
// - A class in use holds at least one span of 16 KiB; the ends of spans waste an eighth at most.

#include "flow/memory/fast_allocator.h"

#include <atomic>

namespace flow::memory::detail {

class Home;

inline constexpr std::size_t kChunkBytes = 256 * 1024;
inline constexpr std::size_t kSpanBytes = 16 * 1024;
inline constexpr std::size_t kSpans = kChunkBytes / kSpanBytes;
inline constexpr std::size_t kHugeBytes = 2 * 1024 * 1024;
inline constexpr std::size_t kBytesOfMany = 8 * 1024 * 1024;

/// The beginning of a chunk, which is aligned to its size.
struct Chunk {
    struct Span {
        std::uint16_t capacity; // blocks
        std::uint16_t free;     // how many of them are in the list that is being sorted; otherwise 0
        std::uint16_t seen;     // how many of these have been dealt with
    };

    std::atomic<Home*> home; // changes under the mutex, and only to or from `orphans`
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
        constexpr std::size_t kHeader = 256;
        static_assert(sizeof(Chunk) <= kHeader);
        return reinterpret_cast<char*>(this) + (span == 0 ? kHeader : span * kSpanBytes);
    }
    char* end(std::size_t span) { return reinterpret_cast<char*>(this) + (span + 1) * kSpanBytes; }
};

/// Blocks of one class on their way from thread to thread: a list, whose first block links to the next list.
struct Batch : FreeBlock {
    Batch* nextBatch;
};
static_assert(sizeof(Batch) <= blockBytes(1));

class Home {
public:
    /// That of this thread, which is made at the first call and dissolved when the thread ends. Null if there is no
    /// memory for it.
    static Home* current() noexcept;

    /// Blocks for the class, of which this thread has none left. Throws std::bad_alloc with everything unchanged.
    FreeBlock* supply(SizeClass sizeClass);
    /// To be called after each `freesBetween` frees: picks out and sends home what is not ours.
    void pickOut(SizeClass sizeClass) noexcept;
    static constexpr std::uint64_t freesBetween(SizeClass sizeClass) { return kLookBytes / blockBytes(sizeClass); }
    /// Gives chunks without live blocks to the system. Returns how many bytes.
    std::size_t trim() noexcept;
    void addTo(Usage& usage) const noexcept;

private:
    static constexpr std::size_t kLookBytes = 16 * 1024;
    static constexpr std::size_t kSendBytes = 16 * 1024;

    struct Ledger {
        std::int64_t stock;  // blocks that came into the free list other than by being freed here, less those that left
        Batch* mail;         // under the mutex
        FreeBlock* outgoing; // of others' chunks
        std::size_t outgoingCount;
        std::int64_t looked; // length of the list when all of it was looked at
        int suspicion;       // looks that are to be thorough, since one has found something
    };
    struct UnusedSpan {
        UnusedSpan* next;
    };

    static Home* acquire() noexcept;
    static void leave(void* self) noexcept;

    FreeBlock* takeMail(SizeClass sizeClass) noexcept;
    void putMail(SizeClass sizeClass, FreeBlock* first, std::size_t count) noexcept;
    void sendHome(SizeClass sizeClass) noexcept;

    void sortOut(SizeClass sizeClass) noexcept;
    void reclaim() noexcept;
    bool adoptOrphans() noexcept;
    bool addMemory() noexcept;
    bool addChunks(std::size_t bytes) noexcept;
    FreeBlock* carve(SizeClass sizeClass) noexcept;
    std::size_t unmapUnused() noexcept;
    void addUnused(Chunk* chunk, std::size_t span) noexcept;

    std::int64_t length(SizeClass sizeClass) const noexcept;
    std::size_t freeBytes() const noexcept;

    static Home orphans; // owns what ended threads have left

    Chunk* chunks_ = nullptr;
    UnusedSpan* unused_ = nullptr;
    std::size_t unusedCount_ = 0;
    std::size_t chunkCount_ = 0;
    std::size_t reclaimAt_ = kChunkBytes;
    std::atomic<std::uint64_t> hasMail_{0}; // a bit for each class
    std::atomic<std::size_t> mailBytes_{0};
    Home* nextIdle_ = nullptr;
    Ledger ledgers_[kClassCount] = {};
};

/// Takes the block into the list.
inline void push(FreeBlock*& list, FreeBlock* block) {
    block->next = list;
    list = block;
}

} // namespace flow::memory::detail
