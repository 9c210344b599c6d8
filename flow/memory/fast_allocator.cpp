#include "flow/memory/fast_allocator.h"

#include "flow/memory/allocation_failure.h"

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <utility>

namespace flow::memory {
namespace {

using detail::FreeBlock;

constexpr std::size_t kChunkBytes = 256 * 1024;
constexpr std::size_t kBatchBytes = 4096;   // carved at once for a class, so that memory is touched only when needed
constexpr std::size_t kSharedBytes = 16384; // given at once to other threads

std::atomic<ChunkSource> chunkSource{nullptr};

/// Blocks of one class on their way from thread to thread: a list, whose first block links to the next list. Chunks are
/// never returned to the system: blocks of one chunk live in many threads.
struct Batch : FreeBlock {
    Batch* nextBatch;
};
static_assert(sizeof(Batch) <= blockBytes(1));

struct Pool {
    std::mutex mutex;
    Batch* classes[kClassCount] = {};

    void put(SizeClass sizeClass, FreeBlock* blocks) {
        std::lock_guard lock(mutex);
        auto* batch = ::new (static_cast<void*>(blocks)) Batch{*blocks, classes[sizeClass]};
        classes[sizeClass] = batch;
    }
    FreeBlock* take(SizeClass sizeClass) {
        std::lock_guard lock(mutex);
        Batch* batch = classes[sizeClass];
        if (batch)
            classes[sizeClass] = batch->nextBatch;
        return batch;
    }
};

Pool& pool() {
    static Pool* instance = new Pool; // never destroyed: threads may end after static destruction
    return *instance;
}

/// The unused rest of this thread's chunk, and the hand-over of its free lists when the thread ends.
struct Region {
    char* next = nullptr;
    char* end = nullptr;

    /// So that a thread which only frees blocks of others, or lives on such, has a Region whose destructor runs.
    void use() { asm("" ::"r"(this)); }

    ~Region() {
        for (std::size_t c = 0; c < kClassCount; ++c)
            if (FreeBlock* first = std::exchange(detail::heap.classes[c].first, nullptr))
                pool().put(static_cast<SizeClass>(c), first);
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

/// Gives the first `count` blocks to whoever runs short.
void share(detail::FreeList& list, SizeClass sizeClass, std::size_t count) {
    FreeBlock* first = list.first;
    FreeBlock* last = first;
    for (std::size_t i = 1; i < count; ++i)
        last = last->next;
    list.first = std::exchange(last->next, nullptr);
    list.shared += count;
    pool().put(sizeClass, first);
}

} // namespace

void* detail::allocateSlow(std::size_t bytes, SizeClass sizeClass) {
    if (flow::detail::allocationFailure)
        return flow::detail::allocationFailure->allocate(bytes, sizeClass);
    FreeList& list = heap.classes[sizeClass];
    if (FLOW_SYSTEM_BLOCKS || sizeClass == kSystemClass) {
        void* block = std::malloc(bytes);
        if (!block)
            throw std::bad_alloc();
        ++list.allocated;
        return block;
    }
    region.use();
    FreeBlock* block = pool().take(sizeClass);
    if (!block)
        block = carve(sizeClass);
    list.first = block->next;
    ++list.allocated;
    return block;
}

void detail::releaseSlow(void* block, SizeClass sizeClass) noexcept {
    FreeList& list = heap.classes[sizeClass];
    if (FLOW_SYSTEM_BLOCKS || sizeClass == kSystemClass) {
        list.toBeFreed = 1;
        ++list.freedThen;
        return std::free(block);
    }
    if (flow::detail::allocationFailure)
        return flow::detail::allocationFailure->release(block, sizeClass);
    region.use();
    list.first = ::new (block) FreeBlock{list.first};
    std::size_t count = kSharedBytes / blockBytes(sizeClass);
    list.toBeFreed = count;
    list.freedThen += count;
    if (static_cast<std::int64_t>(list.freed() - list.allocated - list.shared) >= static_cast<std::int64_t>(2 * count))
        share(list, sizeClass, count);
}

Statistics statistics(SizeClass sizeClass) noexcept {
    auto const& list = detail::heap.classes[sizeClass];
    return {blockBytes(sizeClass), list.allocated, list.freed()};
}

Statistics totalStatistics() noexcept {
    Statistics total;
    for (auto const& list : detail::heap.classes) {
        total.allocated += list.allocated;
        total.freed += list.freed();
    }
    return total;
}

ChunkSource setChunkSource(ChunkSource source) noexcept {
    return chunkSource.exchange(source);
}

} // namespace flow::memory
