#include "flow/memory/fast_allocator.h"

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <utility>

namespace flow::memory {
namespace {

using detail::FreeBlock;

constexpr std::size_t kChunkBytes = 256 * 1024;
constexpr std::size_t kBatchBytes = 4096; // carved at once for a class, so that memory is touched only when needed

std::atomic<ChunkSource> chunkSource{nullptr};

/// What ended threads had cached. Chunks are never returned to the system: blocks of one chunk live in many threads.
struct Orphans {
    std::mutex mutex;
    FreeBlock* classes[kClassCount] = {};
};

Orphans& orphans() {
    static Orphans* instance = new Orphans; // never destroyed: threads may end after static destruction
    return *instance;
}

/// The unused rest of this thread's chunk, and the hand-over of its free lists when the thread ends.
struct Region {
    char* next = nullptr;
    char* end = nullptr;

    /// The blocks of ended threads. A member, so that a thread that lives on such blocks alone has a Region to hand
    /// them on with.
    FreeBlock* takeOrphans(SizeClass sizeClass) {
        std::lock_guard lock(orphans().mutex);
        return std::exchange(orphans().classes[sizeClass], nullptr);
    }

    ~Region() {
        std::lock_guard lock(orphans().mutex);
        for (std::size_t c = 0; c < kClassCount; ++c) {
            FreeBlock*& first = detail::heap.classes[c].first;
            if (!first)
                continue;
            FreeBlock* last = first;
            while (last->next)
                last = last->next;
            last->next = orphans().classes[c];
            orphans().classes[c] = first;
            first = nullptr;
        }
    }
};

thread_local Region region;

/// A list of fresh blocks; throws std::bad_alloc if not even one can be had.
FreeBlock* carve(SizeClass sizeClass) {
    std::size_t bytes = blockBytes(sizeClass);
    if (static_cast<std::size_t>(region.end - region.next) < bytes) {
        ChunkSource source = chunkSource.load(std::memory_order_relaxed);
        void* chunk = source ? source(kChunkBytes) : std::aligned_alloc(64, kChunkBytes);
        if (!chunk)
            throw std::bad_alloc();
        region.next = static_cast<char*>(chunk);
        region.end = region.next + kChunkBytes;
    }
    std::size_t room = static_cast<std::size_t>(region.end - region.next) / bytes;
    std::size_t count = kBatchBytes / bytes < 1 ? 1 : kBatchBytes / bytes;
    count = count < room ? count : room;
    char* first = region.next;
    for (std::size_t i = 0; i < count; ++i) {
        auto* block = reinterpret_cast<FreeBlock*>(first + i * bytes);
        block->next = i + 1 < count ? reinterpret_cast<FreeBlock*>(first + (i + 1) * bytes) : nullptr;
    }
    region.next += count * bytes;
    return reinterpret_cast<FreeBlock*>(first);
}

} // namespace

void* detail::allocateSlow(std::size_t bytes, SizeClass sizeClass) {
    FreeList& list = heap.classes[sizeClass];
    if (FLOW_SYSTEM_BLOCKS || sizeClass == kSystemClass) {
        void* block = std::malloc(bytes);
        if (!block)
            throw std::bad_alloc();
        ++list.allocated;
        return block;
    }
    FreeBlock* block = region.takeOrphans(sizeClass);
    if (!block)
        block = carve(sizeClass);
    list.first = block->next;
    ++list.allocated;
    return block;
}

void detail::releaseSlow(void* block) noexcept {
    std::free(block);
}

Statistics statistics(SizeClass sizeClass) noexcept {
    auto const& list = detail::heap.classes[sizeClass];
    return {blockBytes(sizeClass), list.allocated, list.freed};
}

Statistics totalStatistics() noexcept {
    Statistics total;
    for (auto const& list : detail::heap.classes) {
        total.allocated += list.allocated;
        total.freed += list.freed;
    }
    return total;
}

ChunkSource setChunkSource(ChunkSource source) noexcept {
    return chunkSource.exchange(source);
}

} // namespace flow::memory
