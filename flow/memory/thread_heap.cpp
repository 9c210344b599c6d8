// thread_heap.h has the states of a block. Most work is done in bounded steps by supply(), when a free list is empty,
// and separateRemote(), every freesBetween() frees. Only trim(), a thread's end and lack of memory sort all blocks.
//
// A ThreadHeap belongs to its thread. Only the remote-free lists, the `owner` of chunks and the heap `abandoned` are
// used by several threads, under the mutex. Without the mutex, a thread reads hasRemote_ and remoteBytes_ of its own
// heap, and compares the `owner` of any chunk with its own heap. This comparison is safe: no other thread makes that
// heap the owner of a chunk, or takes a chunk from that heap.
//
// A ThreadHeap is never freed. When its thread ends, its chunks go to `abandoned`, and it goes to the list `idle` for
// the next new thread. No block is sent to an ended thread, because returnBlocks() reads `owner` under the mutex.

#include "flow/memory/detail/thread_heap.h"

#include <cstdlib>
#include <iterator>
#include <mutex>
#include <pthread.h>
#include <utility>

namespace flow::memory::detail {

// Has external linkage, for the debuggers: lldb cannot read a thread_local with internal linkage that gcc has made.
constinit thread_local ThreadHeap* mine = nullptr;

namespace {

constinit std::mutex mutex; // guards the remote-free lists, `owner` in chunks, `abandoned` and `idle`
constinit std::atomic<std::size_t> held{0};
constinit std::atomic<std::size_t> limit{~std::size_t{0}};
constinit ThreadHeap* idle = nullptr;
constinit std::atomic<bool> severalThreads{false};

std::uint64_t bitOf(SizeClass sizeClass) {
    return std::uint64_t{1} << sizeClass;
}
static_assert(kClassCount <= 64);

std::size_t countOf(FreeBlock const* blocks) {
    std::size_t count = 0;
    for (; blocks; blocks = blocks->next)
        ++count;
    return count;
}

} // namespace

constinit ThreadHeap ThreadHeap::abandoned;

// -------------------------------------------------------------------------------------------------------------------
// Threads begin and end

ThreadHeap* ThreadHeap::current() noexcept {
    if (!mine) [[unlikely]]
        mine = acquire();
    return mine;
}

ThreadHeap* ThreadHeap::acquire() noexcept {
    // The destructor of this pthread key runs after the destructors of thread_local objects, which may still use
    // blocks. If the destructor of another key uses blocks later, the destructor of this key runs again.
    static pthread_key_t const key = [] {
        pthread_key_t made;
        ::pthread_key_create(&made, leave);
        // A child process has only the thread that called fork(). A mutex locked by another thread would stay locked.
        ::pthread_atfork([] { mutex.lock(); }, [] { mutex.unlock(); }, [] { mutex.unlock(); });
        return made;
    }();
    ThreadHeap* owner = nullptr;
    {
        std::lock_guard lock(mutex);
        if (idle)
            owner = std::exchange(idle, idle->nextIdle_);
    }
    if (!owner) {
        void* place = std::malloc(sizeof(ThreadHeap));
        if (!place)
            return nullptr;
        owner = ::new (place) ThreadHeap;
        static std::atomic<bool> isFirst{true};
        if (!isFirst.exchange(false, std::memory_order_relaxed))
            severalThreads.store(true, std::memory_order_relaxed);
    }
    for (std::size_t c = 0; c < kClassCount; ++c) {
        FreeList const& list = heap.classes[c];
        owner->ledgers_[c] = {};
        owner->ledgers_[c].stock = static_cast<std::int64_t>(list.allocated - list.freed());
        for (FreeBlock* block = list.first; block; block = block->next)
            ++owner->ledgers_[c].stock;
    }
    ::pthread_setspecific(key, owner);
    return owner;
}

void ThreadHeap::leave(void* self) noexcept {
    auto* owner = static_cast<ThreadHeap*>(self);
    owner->sortAll();
    owner->unmapUnused();
    mine = nullptr;
    std::lock_guard lock(mutex);
    while (owner->chunks_) {
        Chunk* chunk = std::exchange(owner->chunks_, owner->chunks_->next);
        chunk->owner.store(&abandoned, std::memory_order_relaxed);
        chunk->next = std::exchange(abandoned.chunks_, chunk);
        ++abandoned.chunkCount_;
    }
    owner->chunkCount_ = 0;
    while (owner->unused_) {
        UnusedSpan* span = std::exchange(owner->unused_, owner->unused_->next);
        span->next = std::exchange(abandoned.unused_, span);
        ++abandoned.unusedCount_;
    }
    owner->unusedCount_ = 0;
    owner->sortedBytes_ = 0;
    for (FreeList& list : heap.classes) {
        list.freedThen = list.freed() + 1; // if this thread frees another block, releaseSlow() is called
        list.toBeFreed = 1;
    }
    abandoned.takeRemoteOf(*owner);
    owner->nextIdle_ = std::exchange(idle, owner);
}

bool ThreadHeap::adoptAbandoned() noexcept {
    std::lock_guard lock(mutex);
    if (!abandoned.chunks_)
        return false;
    while (abandoned.chunks_) {
        Chunk* chunk = std::exchange(abandoned.chunks_, abandoned.chunks_->next);
        chunk->owner.store(this, std::memory_order_relaxed);
        chunk->next = std::exchange(chunks_, chunk);
        for (Chunk::Span& span : chunk->spans)
            if (span.free != 0) {
                list(span);
                sortedBytes_ += span.free * blockBytes(span.sizeClass);
            }
    }
    chunkCount_ += std::exchange(abandoned.chunkCount_, 0);
    while (abandoned.unused_) {
        UnusedSpan* span = std::exchange(abandoned.unused_, abandoned.unused_->next);
        span->next = std::exchange(unused_, span);
    }
    unusedCount_ += std::exchange(abandoned.unusedCount_, 0);
    takeRemoteOf(abandoned);
    return true;
}

// -------------------------------------------------------------------------------------------------------------------
// Remote-free lists

/// Adds `count` blocks of this ThreadHeap's chunks to its remote-free list. Called under the mutex.
void ThreadHeap::addRemote(SizeClass sizeClass, FreeBlock* first, std::size_t count) noexcept {
    Batch*& remote = ledgers_[sizeClass].remote;
    remote = ::new (static_cast<void*>(first)) Batch{*first, remote};
    remoteBytes_.fetch_add(count * blockBytes(sizeClass), std::memory_order_relaxed);
    hasRemote_.store(hasRemote_.load(std::memory_order_relaxed) | bitOf(sizeClass), std::memory_order_relaxed);
}

/// Moves the blocks of the remote-free list of `other` to the list of this ThreadHeap. Called under the mutex.
void ThreadHeap::takeRemoteOf(ThreadHeap& other) noexcept {
    for (std::size_t c = 0; c < kClassCount; ++c)
        while (Batch* batch = other.ledgers_[c].remote) {
            other.ledgers_[c].remote = batch->nextBatch;
            addRemote(static_cast<SizeClass>(c), batch, countOf(batch));
        }
    other.hasRemote_.store(0, std::memory_order_relaxed);
    other.remoteBytes_.store(0, std::memory_order_relaxed);
}

/// Takes one batch of the remote-free list. Returns null if the list is empty.
FreeBlock* ThreadHeap::takeRemote(SizeClass sizeClass) noexcept {
    if (!(hasRemote_.load(std::memory_order_relaxed) & bitOf(sizeClass)))
        return nullptr;
    Batch* batch;
    {
        std::lock_guard lock(mutex);
        batch = ledgers_[sizeClass].remote;
        ledgers_[sizeClass].remote = batch->nextBatch;
        if (!batch->nextBatch)
            hasRemote_.store(hasRemote_.load(std::memory_order_relaxed) & ~bitOf(sizeClass), std::memory_order_relaxed);
    }
    std::size_t count = countOf(batch);
    remoteBytes_.fetch_sub(count * blockBytes(sizeClass), std::memory_order_relaxed);
    ledgers_[sizeClass].stock += static_cast<std::int64_t>(count);
    return batch;
}

/// Sends each outgoing block to the ThreadHeap of its chunk. A batch holds blocks of one ThreadHeap.
void ThreadHeap::returnBlocks(SizeClass sizeClass) noexcept {
    struct OutgoingBatch {
        ThreadHeap* to = nullptr;
        FreeBlock* blocks = nullptr;
        std::size_t count = 0;
    } batches[8];
    std::size_t used = 0;
    auto batchFor = [&](ThreadHeap* to) -> OutgoingBatch& {
        for (std::size_t i = 0; i < used; ++i)
            if (batches[i].to == to)
                return batches[i];
        if (used == std::size(batches)) { // more than 8 ThreadHeaps: sends one batch early
            --used;
            batches[used].to->addRemote(sizeClass, batches[used].blocks, batches[used].count);
        }
        return batches[used++] = {to, nullptr, 0};
    };
    ledgers_[sizeClass].outgoingCount = 0;
    std::lock_guard lock(mutex);
    for (FreeBlock *block = std::exchange(ledgers_[sizeClass].outgoing, nullptr), *next; block; block = next) {
        next = block->next;
        OutgoingBatch& batch = batchFor(Chunk::of(block)->owner.load(std::memory_order_relaxed));
        push(batch.blocks, block);
        ++batch.count;
    }
    while (used > 0) {
        --used;
        batches[used].to->addRemote(sizeClass, batches[used].blocks, batches[used].count);
    }
}

// -------------------------------------------------------------------------------------------------------------------
// Sorting free lists

std::size_t ThreadHeap::listBytes(SizeClass sizeClass) const noexcept {
    FreeList const& list = heap.classes[sizeClass];
    auto blocks = static_cast<std::int64_t>(list.freed() - list.allocated) + ledgers_[sizeClass].stock;
    return blocks > 0 ? static_cast<std::size_t>(blocks) * blockBytes(sizeClass) : 0;
}

std::size_t ThreadHeap::unsortedBytes() const noexcept {
    std::size_t bytes = remoteBytes_.load(std::memory_order_relaxed);
    for (std::size_t c = 0; c < kSystemClass; ++c)
        bytes += listBytes(static_cast<SizeClass>(c));
    return bytes;
}

// The blocks freed since the last scan are among the first freesBetween() blocks of the list. The first eighth of them
// is a sample. The others are scanned only if the sample, or one of the last 64 scans, found a foreign block, so a
// thread that frees only its own blocks has little to do. Foreign blocks that the samples miss make the list longer:
// therefore a list that has doubled is sorted completely, step by step.
void ThreadHeap::separateRemote(SizeClass sizeClass) noexcept {
    constexpr int kFullScans = 64;
    if (!severalThreads.load(std::memory_order_relaxed))
        return;
    Ledger& ledger = ledgers_[sizeClass];
    auto recent = static_cast<std::int64_t>(freesBetween(sizeClass));
    auto length = static_cast<std::int64_t>(listBytes(sizeClass) / blockBytes(sizeClass));
    if (length > 2 * (ledger.length + recent))
        ledger.length = ledger.toSort = length;
    if (ledger.toSort > 0) {
        std::size_t step = kSortBytes / blockBytes(sizeClass);
        ledger.toSort -= static_cast<std::int64_t>(step);
        return sort(sizeClass, step);
    }
    std::int64_t left = ledger.pendingFullScans > 0 ? recent : (recent + 7) / 8;
    FreeBlock** place = &heap.classes[sizeClass].first;
    for (; left > 0 && *place; --left) {
        FreeBlock* block = *place;
        if (Chunk::of(block)->owner.load(std::memory_order_relaxed) == this) [[likely]] {
            place = &block->next;
            continue;
        }
        *place = block->next;
        push(ledger.outgoing, block);
        ++ledger.outgoingCount;
        --ledger.stock;
        if (ledger.pendingFullScans == 0)
            left += recent - recent / 8;
        ledger.pendingFullScans = kFullScans;
    }
    ledger.pendingFullScans -= ledger.pendingFullScans > 0;
    if (ledger.outgoingCount * blockBytes(sizeClass) >= kSendBytes)
        returnBlocks(sizeClass);
}

/// Takes up to `most` blocks out of the free list. Moves foreign blocks to `outgoing`, and other blocks to their spans.
void ThreadHeap::sort(SizeClass sizeClass, std::size_t most) noexcept {
    FreeBlock*& first = heap.classes[sizeClass].first;
    Ledger& ledger = ledgers_[sizeClass];
    for (; most > 0 && first; --most) {
        FreeBlock* block = std::exchange(first, first->next);
        --ledger.stock;
        Chunk* chunk = Chunk::of(block);
        if (chunk->owner.load(std::memory_order_relaxed) != this) {
            push(ledger.outgoing, block);
            ++ledger.outgoingCount;
            continue;
        }
        std::size_t index = chunk->indexOf(block);
        Chunk::Span& span = chunk->spans[index];
        push(span.blocks, block);
        sortedBytes_ += blockBytes(sizeClass);
        if (++span.free == 1)
            list(span);
        if (span.free == span.capacity) {
            takeBlocks(span);
            addUnused(chunk, index);
        }
    }
    if (ledger.outgoingCount * blockBytes(sizeClass) >= kSendBytes)
        returnBlocks(sizeClass);
}

/// Takes one batch of the remote-free list, and sorts some blocks of the class with the longest free list in bytes.
void ThreadHeap::sortSome() noexcept {
    if (std::uint64_t remote = hasRemote_.load(std::memory_order_relaxed)) {
        auto sizeClass = static_cast<SizeClass>(__builtin_ctzll(remote));
        for (FreeBlock *block = takeRemote(sizeClass), *next; block; block = next) {
            next = block->next;
            push(heap.classes[sizeClass].first, block);
        }
    }
    SizeClass most = 1;
    for (SizeClass c = 2; c < kSystemClass; ++c)
        if (listBytes(c) > listBytes(most))
            most = c;
    sort(most, kSortBytes / blockBytes(most));
}

void ThreadHeap::sortAll() noexcept {
    for (SizeClass c = 1; c < kSystemClass; ++c)
        do {
            sort(c, ~std::size_t{0});
            returnBlocks(c); // sends some blocks to this heap, if it has adopted their chunks
        } while ((heap.classes[c].first = takeRemote(c)));
}

void ThreadHeap::list(Chunk::Span& span) noexcept {
    Chunk::Span*& first = ledgers_[span.sizeClass].sorted;
    span.next = first;
    span.place = &first;
    if (first)
        first->place = &span.next;
    first = &span;
}

FreeBlock* ThreadHeap::takeBlocks(Chunk::Span& span) noexcept {
    *span.place = span.next;
    if (span.next)
        span.next->place = span.place;
    sortedBytes_ -= std::exchange(span.free, 0) * blockBytes(span.sizeClass);
    return std::exchange(span.blocks, nullptr);
}

// -------------------------------------------------------------------------------------------------------------------
// Spans and chunks

FreeBlock* ThreadHeap::supply(SizeClass sizeClass) noexcept {
    if (FreeBlock* blocks = takeFree(sizeClass))
        return blocks;
    if (isSorting_ || unsortedBytes() > kMayBeUnsorted) {
        sortSome();
        isSorting_ = unsortedBytes() != 0;
        if (FreeBlock* blocks = takeFree(sizeClass)) // a remote batch may just have come
            return blocks;
    }
    if (!unused_ && adoptAbandoned())
        if (FreeBlock* blocks = takeFree(sizeClass))
            return blocks;
    if (!unused_ && !addMemory()) {
        sortAll(); // the last resort
        if (FreeBlock* blocks = takeFree(sizeClass))
            return blocks;
    }
    return unused_ ? carve(sizeClass) : nullptr;
}

/// Takes the free list, a batch of the remote-free list, or the sorted blocks of a span. Returns null if all are empty.
FreeBlock* ThreadHeap::takeFree(SizeClass sizeClass) noexcept {
    if (FreeBlock*& first = heap.classes[sizeClass].first)
        return std::exchange(first, nullptr);
    if (FreeBlock* remote = takeRemote(sizeClass))
        return remote;
    Chunk::Span* span = ledgers_[sizeClass].sorted;
    if (!span)
        return nullptr;
    ledgers_[sizeClass].stock += span->free;
    return takeBlocks(*span);
}

bool ThreadHeap::addMemory() noexcept {
    return (chunkCount_ * kChunkBytes >= kBytesOfMany && addChunks(kHugeBytes)) || addChunks(kChunkBytes);
}

bool ThreadHeap::addChunks(std::size_t bytes) noexcept {
    void* place = nullptr;
    if (held.fetch_add(bytes, std::memory_order_relaxed) + bytes <= limit.load(std::memory_order_relaxed))
        place = mapAligned(bytes);
    if (!place) {
        held.fetch_sub(bytes, std::memory_order_relaxed);
        return false;
    }
    if (bytes == kHugeBytes)
        wishForHugePages(place, bytes);
    for (std::size_t end = bytes; end != 0; end -= kChunkBytes) {
        auto* chunk = ::new (static_cast<char*>(place) + end - kChunkBytes) Chunk{{this}, chunks_, 0, {}};
        chunks_ = chunk;
        ++chunkCount_;
        for (std::size_t i = kSpans; i-- > 0;)
            addUnused(chunk, i);
    }
    return true;
}

void ThreadHeap::addUnused(Chunk* chunk, std::size_t span) noexcept {
    unused_ = ::new (static_cast<void*>(chunk->begin(span))) UnusedSpan{unused_};
    ++unusedCount_;
}

FreeBlock* ThreadHeap::carve(SizeClass sizeClass) noexcept {
    UnusedSpan* taken = std::exchange(unused_, unused_->next);
    --unusedCount_;
    Chunk* chunk = Chunk::of(taken);
    std::size_t index = chunk->indexOf(taken), bytes = blockBytes(sizeClass);
    char* begin = chunk->begin(index);
    auto count = static_cast<std::uint16_t>(static_cast<std::size_t>(chunk->end(index) - begin) / bytes);
    chunk->spans[index] = {nullptr, nullptr, nullptr, 0, count, sizeClass};
    ledgers_[sizeClass].stock += count;
    FreeBlock* blocks = nullptr;
    for (std::size_t i = count; i-- > 0;)
        blocks = ::new (static_cast<void*>(begin + i * bytes)) FreeBlock{blocks};
    return blocks;
}

std::size_t ThreadHeap::unmapUnused() noexcept {
    for (Chunk* chunk = chunks_; chunk; chunk = chunk->next)
        chunk->unusedSpans = 0;
    for (UnusedSpan* span = unused_; span; span = span->next)
        ++Chunk::of(span)->unusedSpans;
    for (UnusedSpan** place = &unused_; *place;)
        if (Chunk::of(*place)->unusedSpans == kSpans) {
            *place = (*place)->next;
            --unusedCount_;
        } else {
            place = &(*place)->next;
        }
    std::size_t bytes = 0;
    for (Chunk** place = &chunks_; *place;) {
        Chunk* chunk = *place;
        if (chunk->unusedSpans != kSpans) {
            place = &chunk->next;
            continue;
        }
        *place = chunk->next;
        --chunkCount_;
        unmap(chunk, kChunkBytes);
        bytes += kChunkBytes;
    }
    held.fetch_sub(bytes, std::memory_order_relaxed);
    return bytes;
}

std::size_t ThreadHeap::trim() noexcept {
    adoptAbandoned();
    sortAll();
    return unmapUnused();
}

void ThreadHeap::addTo(Usage& usage) const noexcept {
    usage.held = chunkCount_ * kChunkBytes;
    usage.unused = unusedCount_ * kSpanBytes;
    usage.cached = unsortedBytes() + sortedBytes_;
}

} // namespace flow::memory::detail

namespace flow::memory {

std::size_t heldBytes() noexcept {
    return detail::held.load(std::memory_order_relaxed);
}

std::size_t setHeldLimit(std::size_t bytes) noexcept {
    return detail::limit.exchange(bytes, std::memory_order_relaxed);
}

} // namespace flow::memory
