#include "flow/memory/thread_heap.h"

#include <cstdlib>
#include <iterator>
#include <mutex>
#include <pthread.h>
#include <utility>

namespace flow::memory::detail {
namespace {

constinit std::mutex mutex; // of all mail, of `home` in chunks, and of what ended threads have left
constinit std::atomic<std::size_t> held{0};
constinit std::atomic<std::size_t> limit{~std::size_t{0}};
constinit thread_local Home* mine = nullptr;
constinit Home* idle = nullptr;
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

constinit Home Home::orphans;

// -------------------------------------------------------------------------------------------------------------------
// Threads begin and end

Home* Home::current() noexcept {
    if (!mine) [[unlikely]]
        mine = acquire();
    return mine;
}

Home* Home::acquire() noexcept {
    // The key's destructor runs after those of thread_local objects, which may still use blocks; should other keys'
    // destructors do so after it, it runs again.
    static pthread_key_t const key = [] {
        pthread_key_t made;
        ::pthread_key_create(&made, leave);
        return made;
    }();
    Home* home = nullptr;
    {
        std::lock_guard lock(mutex);
        if (idle)
            home = std::exchange(idle, idle->nextIdle_);
    }
    if (!home) {
        void* place = std::malloc(sizeof(Home));
        if (!place)
            return nullptr;
        home = ::new (place) Home;
        static std::atomic<bool> isFirst{true};
        if (!isFirst.exchange(false, std::memory_order_relaxed))
            severalThreads.store(true, std::memory_order_relaxed);
    }
    for (std::size_t c = 0; c < kClassCount; ++c) {
        FreeList const& list = heap.classes[c];
        home->ledgers_[c] = {};
        home->ledgers_[c].stock = static_cast<std::int64_t>(list.allocated - list.freed());
        for (FreeBlock* block = list.first; block; block = block->next)
            ++home->ledgers_[c].stock;
    }
    ::pthread_setspecific(key, home);
    return home;
}

void Home::leave(void* self) noexcept {
    auto* home = static_cast<Home*>(self);
    home->sortAll();
    home->unmapUnused();
    mine = nullptr;
    std::lock_guard lock(mutex);
    while (home->chunks_) {
        Chunk* chunk = std::exchange(home->chunks_, home->chunks_->next);
        chunk->home.store(&orphans, std::memory_order_relaxed);
        chunk->next = std::exchange(orphans.chunks_, chunk);
        ++orphans.chunkCount_;
    }
    home->chunkCount_ = 0;
    while (home->unused_) {
        UnusedSpan* span = std::exchange(home->unused_, home->unused_->next);
        span->next = std::exchange(orphans.unused_, span);
        ++orphans.unusedCount_;
    }
    home->unusedCount_ = 0;
    home->sortedBytes_ = 0;
    for (FreeList& list : heap.classes) {
        list.freedThen = list.freed() + 1; // the next free comes to us, if there is one
        list.toBeFreed = 1;
    }
    orphans.takeMailOf(*home);
    home->nextIdle_ = std::exchange(idle, home);
}

bool Home::adoptOrphans() noexcept {
    std::lock_guard lock(mutex);
    if (!orphans.chunks_)
        return false;
    while (orphans.chunks_) {
        Chunk* chunk = std::exchange(orphans.chunks_, orphans.chunks_->next);
        chunk->home.store(this, std::memory_order_relaxed);
        chunk->next = std::exchange(chunks_, chunk);
        for (Chunk::Span& span : chunk->spans)
            if (span.free != 0) {
                list(span);
                sortedBytes_ += span.free * blockBytes(span.sizeClass);
            }
    }
    chunkCount_ += std::exchange(orphans.chunkCount_, 0);
    while (orphans.unused_) {
        UnusedSpan* span = std::exchange(orphans.unused_, orphans.unused_->next);
        span->next = std::exchange(unused_, span);
    }
    unusedCount_ += std::exchange(orphans.unusedCount_, 0);
    takeMailOf(orphans);
    return true;
}

// -------------------------------------------------------------------------------------------------------------------
// Mail

/// Under the mutex. The blocks belong to chunks of this Home.
void Home::putMail(SizeClass sizeClass, FreeBlock* first, std::size_t count) noexcept {
    Batch*& mail = ledgers_[sizeClass].mail;
    mail = ::new (static_cast<void*>(first)) Batch{*first, mail};
    mailBytes_.fetch_add(count * blockBytes(sizeClass), std::memory_order_relaxed);
    hasMail_.store(hasMail_.load(std::memory_order_relaxed) | bitOf(sizeClass), std::memory_order_relaxed);
}

/// Under the mutex: what waits for the other waits for this one.
void Home::takeMailOf(Home& other) noexcept {
    for (std::size_t c = 0; c < kClassCount; ++c)
        while (Batch* batch = other.ledgers_[c].mail) {
            other.ledgers_[c].mail = batch->nextBatch;
            putMail(static_cast<SizeClass>(c), batch, countOf(batch));
        }
    other.hasMail_.store(0, std::memory_order_relaxed);
    other.mailBytes_.store(0, std::memory_order_relaxed);
}

/// A list of what has been sent home, one of the batches; null if there is none.
FreeBlock* Home::takeMail(SizeClass sizeClass) noexcept {
    if (!(hasMail_.load(std::memory_order_relaxed) & bitOf(sizeClass)))
        return nullptr;
    Batch* batch;
    {
        std::lock_guard lock(mutex);
        batch = ledgers_[sizeClass].mail;
        ledgers_[sizeClass].mail = batch->nextBatch;
        if (!batch->nextBatch)
            hasMail_.store(hasMail_.load(std::memory_order_relaxed) & ~bitOf(sizeClass), std::memory_order_relaxed);
    }
    std::size_t count = countOf(batch);
    mailBytes_.fetch_sub(count * blockBytes(sizeClass), std::memory_order_relaxed);
    ledgers_[sizeClass].stock += static_cast<std::int64_t>(count);
    return batch;
}

/// Sends each outgoing block to the Home of its chunk. A batch holds blocks of one Home.
void Home::sendHome(SizeClass sizeClass) noexcept {
    struct Parcel {
        Home* to = nullptr;
        FreeBlock* blocks = nullptr;
        std::size_t count = 0;
    } parcels[8];
    std::size_t used = 0;
    auto parcelFor = [&](Home* to) -> Parcel& {
        for (std::size_t i = 0; i < used; ++i)
            if (parcels[i].to == to)
                return parcels[i];
        if (used == std::size(parcels)) { // many Homes: smaller batches
            --used;
            parcels[used].to->putMail(sizeClass, parcels[used].blocks, parcels[used].count);
        }
        return parcels[used++] = {to, nullptr, 0};
    };
    ledgers_[sizeClass].outgoingCount = 0;
    std::lock_guard lock(mutex);
    for (FreeBlock *block = std::exchange(ledgers_[sizeClass].outgoing, nullptr), *next; block; block = next) {
        next = block->next;
        Parcel& parcel = parcelFor(Chunk::of(block)->home.load(std::memory_order_relaxed));
        push(parcel.blocks, block);
        ++parcel.count;
    }
    while (used > 0) {
        --used;
        parcels[used].to->putMail(sizeClass, parcels[used].blocks, parcels[used].count);
    }
}

// -------------------------------------------------------------------------------------------------------------------
// Sorting free lists

std::size_t Home::listBytes(SizeClass sizeClass) const noexcept {
    FreeList const& list = heap.classes[sizeClass];
    auto blocks = static_cast<std::int64_t>(list.freed() - list.allocated) + ledgers_[sizeClass].stock;
    return blocks > 0 ? static_cast<std::size_t>(blocks) * blockBytes(sizeClass) : 0;
}

std::size_t Home::unsortedBytes() const noexcept {
    std::size_t bytes = mailBytes_.load(std::memory_order_relaxed);
    for (std::size_t c = 0; c < kSystemClass; ++c)
        bytes += listBytes(static_cast<SizeClass>(c));
    return bytes;
}

// What has been freed since the last look is among the first `freesBetween` blocks of the list. An eighth of them is a
// sample: if there is nothing in it, a thread that frees its own blocks only is spared the rest. What samples miss
// makes the list longer in time: all that a list holds which has doubled is sorted, step by step.
void Home::pickOut(SizeClass sizeClass) noexcept {
    constexpr int kThoroughLooks = 64;
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
    std::int64_t left = ledger.suspicion > 0 ? recent : (recent + 7) / 8;
    FreeBlock** place = &heap.classes[sizeClass].first;
    for (; left > 0 && *place; --left) {
        FreeBlock* block = *place;
        if (Chunk::of(block)->home.load(std::memory_order_relaxed) == this) [[likely]] {
            place = &block->next;
            continue;
        }
        *place = block->next;
        push(ledger.outgoing, block);
        ++ledger.outgoingCount;
        --ledger.stock;
        if (ledger.suspicion == 0)
            left += recent - recent / 8;
        ledger.suspicion = kThoroughLooks;
    }
    ledger.suspicion -= ledger.suspicion > 0;
    if (ledger.outgoingCount * blockBytes(sizeClass) >= kSendBytes)
        sendHome(sizeClass);
}

/// Takes up to `most` blocks from the free list: to their spans, or on the way home.
void Home::sort(SizeClass sizeClass, std::size_t most) noexcept {
    FreeBlock*& first = heap.classes[sizeClass].first;
    Ledger& ledger = ledgers_[sizeClass];
    for (; most > 0 && first; --most) {
        FreeBlock* block = std::exchange(first, first->next);
        --ledger.stock;
        Chunk* chunk = Chunk::of(block);
        if (chunk->home.load(std::memory_order_relaxed) != this) {
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
        sendHome(sizeClass);
}

/// A batch of mail, and some of the class that has the most.
void Home::sortSome() noexcept {
    if (std::uint64_t mail = hasMail_.load(std::memory_order_relaxed)) {
        auto sizeClass = static_cast<SizeClass>(__builtin_ctzll(mail));
        for (FreeBlock *block = takeMail(sizeClass), *next; block; block = next) {
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

/// Leaves nothing in free lists and mail.
void Home::sortAll() noexcept {
    for (SizeClass c = 1; c < kSystemClass; ++c)
        do {
            sort(c, ~std::size_t{0});
            sendHome(c); // to us, if their chunks are ours by now
        } while ((heap.classes[c].first = takeMail(c)));
}

void Home::list(Chunk::Span& span) noexcept {
    Chunk::Span*& first = ledgers_[span.sizeClass].sorted;
    span.next = first;
    span.place = &first;
    if (first)
        first->place = &span.next;
    first = &span;
}

/// Takes its free blocks from a span.
FreeBlock* Home::takeBlocks(Chunk::Span& span) noexcept {
    *span.place = span.next;
    if (span.next)
        span.next->place = span.place;
    sortedBytes_ -= std::exchange(span.free, 0) * blockBytes(span.sizeClass);
    return std::exchange(span.blocks, nullptr);
}

// -------------------------------------------------------------------------------------------------------------------
// Spans and chunks

FreeBlock* Home::supply(SizeClass sizeClass) noexcept {
    if (FreeBlock* blocks = takeFree(sizeClass))
        return blocks;
    if (isSorting_ || unsortedBytes() > kMayBeUnsorted) {
        sortSome();
        isSorting_ = unsortedBytes() != 0;
        if (FreeBlock* blocks = takeFree(sizeClass)) // mail may just have come
            return blocks;
    }
    if (!unused_ && adoptOrphans())
        if (FreeBlock* blocks = takeFree(sizeClass))
            return blocks;
    if (!unused_ && !addMemory()) {
        sortAll(); // the last resort
        if (FreeBlock* blocks = takeFree(sizeClass))
            return blocks;
    }
    return unused_ ? carve(sizeClass) : nullptr;
}

/// What is in the list, what came home, or the blocks of a span; null if there are none.
FreeBlock* Home::takeFree(SizeClass sizeClass) noexcept {
    if (FreeBlock*& first = heap.classes[sizeClass].first)
        return std::exchange(first, nullptr);
    if (FreeBlock* mail = takeMail(sizeClass))
        return mail;
    Chunk::Span* span = ledgers_[sizeClass].sorted;
    if (!span)
        return nullptr;
    ledgers_[sizeClass].stock += span->free;
    return takeBlocks(*span);
}

bool Home::addMemory() noexcept {
    return (chunkCount_ * kChunkBytes >= kBytesOfMany && addChunks(kHugeBytes)) || addChunks(kChunkBytes);
}

bool Home::addChunks(std::size_t bytes) noexcept {
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

void Home::addUnused(Chunk* chunk, std::size_t span) noexcept {
    unused_ = ::new (static_cast<void*>(chunk->begin(span))) UnusedSpan{unused_};
    ++unusedCount_;
}

FreeBlock* Home::carve(SizeClass sizeClass) noexcept {
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

std::size_t Home::unmapUnused() noexcept {
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

std::size_t Home::trim() noexcept {
    adoptOrphans();
    sortAll();
    return unmapUnused();
}

void Home::addTo(Usage& usage) const noexcept {
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
