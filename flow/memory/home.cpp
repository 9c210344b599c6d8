#include "flow/memory/home.h"

#include <cstdlib>
#include <iterator>
#include <mutex>
#include <pthread.h>
#include <sys/mman.h>
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

void unmap(void* place, std::size_t bytes) {
    if (bytes != 0)
        ::munmap(place, bytes);
}

/// Memory aligned to its size, a power of two, or null.
void* mapAligned(std::size_t bytes) {
    constexpr int kProtection = PROT_READ | PROT_WRITE, kFlags = MAP_PRIVATE | MAP_ANONYMOUS;
    void* place = ::mmap(nullptr, bytes, kProtection, kFlags, -1, 0);
    if (place == MAP_FAILED)
        return nullptr;
    if (reinterpret_cast<std::uintptr_t>(place) % bytes == 0) // as a rule: the system maps one below the other
        return place;
    unmap(place, bytes);
    place = ::mmap(nullptr, 2 * bytes, kProtection, kFlags, -1, 0);
    if (place == MAP_FAILED)
        return nullptr;
    auto* begin = static_cast<char*>(place);
    std::size_t before = -reinterpret_cast<std::uintptr_t>(place) % bytes;
    unmap(begin, before);
    unmap(begin + before + bytes, bytes - before);
    return begin + before;
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
    home->reclaimAt_ = kChunkBytes;
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
    home->reclaim();
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
    for (std::size_t c = 0; c < kClassCount; ++c) {
        auto sizeClass = static_cast<SizeClass>(c);
        FreeList& list = heap.classes[c];
        if (FreeBlock* first = std::exchange(list.first, nullptr))
            orphans.putMail(sizeClass, first, countOf(first));
        list.freedThen = list.freed() + 1; // the next free comes to us, if there is one
        list.toBeFreed = 1;
        while (Batch* batch = home->ledgers_[c].mail) {
            home->ledgers_[c].mail = batch->nextBatch;
            orphans.putMail(sizeClass, batch, countOf(batch));
        }
    }
    home->hasMail_.store(0, std::memory_order_relaxed);
    home->mailBytes_.store(0, std::memory_order_relaxed);
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
    }
    chunkCount_ += std::exchange(orphans.chunkCount_, 0);
    while (orphans.unused_) {
        UnusedSpan* span = std::exchange(orphans.unused_, orphans.unused_->next);
        span->next = std::exchange(unused_, span);
    }
    unusedCount_ += std::exchange(orphans.unusedCount_, 0);
    for (std::size_t c = 0; c < kClassCount; ++c)
        while (Batch* batch = orphans.ledgers_[c].mail) {
            orphans.ledgers_[c].mail = batch->nextBatch;
            for (FreeBlock *block = batch, *next; block; block = next) {
                next = block->next;
                push(heap.classes[c].first, block);
                ++ledgers_[c].stock;
            }
        }
    orphans.hasMail_.store(0, std::memory_order_relaxed);
    orphans.mailBytes_.store(0, std::memory_order_relaxed);
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

std::int64_t Home::length(SizeClass sizeClass) const noexcept {
    FreeList const& list = heap.classes[sizeClass];
    return static_cast<std::int64_t>(list.freed() - list.allocated) + ledgers_[sizeClass].stock;
}

/// In free lists and mail.
std::size_t Home::freeBytes() const noexcept {
    std::size_t bytes = mailBytes_.load(std::memory_order_relaxed);
    for (std::size_t c = 0; c < kSystemClass; ++c)
        if (std::int64_t count = length(static_cast<SizeClass>(c)); count > 0)
            bytes += static_cast<std::size_t>(count) * blockBytes(static_cast<SizeClass>(c));
    return bytes;
}

// What has been freed since the last look is among the first `freesBetween` blocks of the list. An eighth of them is a
// sample: if there is nothing in it, a thread that frees its own blocks only is spared the rest.
void Home::pickOut(SizeClass sizeClass) noexcept {
    constexpr int kThoroughLooks = 64;
    if (!severalThreads.load(std::memory_order_relaxed))
        return;
    Ledger& ledger = ledgers_[sizeClass];
    auto recent = static_cast<std::int64_t>(freesBetween(sizeClass));
    bool lookAtAll = length(sizeClass) > 2 * (ledger.looked + recent);
    std::int64_t left = lookAtAll ? length(sizeClass) : ledger.suspicion > 0 ? recent : (recent + 7) / 8;
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
        if (ledger.suspicion == 0 && !lookAtAll)
            left += recent - recent / 8;
        ledger.suspicion = kThoroughLooks;
    }
    ledger.suspicion -= ledger.suspicion > 0;
    if (lookAtAll)
        ledger.looked = length(sizeClass);
    if (ledger.outgoingCount * blockBytes(sizeClass) >= kSendBytes)
        sendHome(sizeClass);
}

/// Sorts the free list of a class and its mail: blocks of others go home, blocks of spans that have no live ones make
/// these spans unused, and the rest stays, in its order.
void Home::sortOut(SizeClass sizeClass) noexcept {
    FreeBlock*& list = heap.classes[sizeClass].first;
    Ledger& ledger = ledgers_[sizeClass];
    auto pushAll = [&list](FreeBlock* blocks) {
        for (FreeBlock* next; blocks; blocks = next) {
            next = blocks->next;
            push(list, blocks);
        }
    };
    while (FreeBlock* mail = takeMail(sizeClass))
        pushAll(mail);
    ledger.stock += static_cast<std::int64_t>(std::exchange(ledger.outgoingCount, 0));
    pushAll(std::exchange(ledger.outgoing, nullptr)); // their chunks may be ours by now
    FreeBlock* own = nullptr;
    for (FreeBlock *block = std::exchange(list, nullptr), *next; block; block = next) {
        next = block->next;
        Chunk* chunk = Chunk::of(block);
        if (chunk->home.load(std::memory_order_relaxed) == this) {
            ++chunk->spans[chunk->indexOf(block)].free;
            push(own, block);
        } else {
            --ledger.stock;
            push(ledger.outgoing, block);
        }
    }
    for (FreeBlock* next; own; own = next) {
        next = own->next;
        Chunk* chunk = Chunk::of(own);
        std::size_t index = chunk->indexOf(own);
        Chunk::Span& span = chunk->spans[index];
        bool isUnused = span.free == span.capacity;
        if (isUnused)
            --ledger.stock;
        else
            push(list, own);
        if (++span.seen != span.free)
            continue;
        span.free = span.seen = 0;
        if (isUnused)
            addUnused(chunk, index);
    }
    if (ledger.outgoing)
        sendHome(sizeClass);
}

void Home::reclaim() noexcept {
    for (std::size_t c = 1; c < kSystemClass; ++c)
        sortOut(static_cast<SizeClass>(c));
    reclaimAt_ = kChunkBytes + 2 * freeBytes();
}

// -------------------------------------------------------------------------------------------------------------------
// Spans and chunks

FreeBlock* Home::supply(SizeClass sizeClass) {
    FreeBlock*& list = heap.classes[sizeClass].first;
    if (FreeBlock* blocks = takeMail(sizeClass))
        return blocks;
    if (!unused_ && freeBytes() >= reclaimAt_)
        reclaim();
    if (!list && !unused_)
        adoptOrphans();
    if (!list && !unused_ && !addMemory())
        reclaim(); // the last resort
    if (list)
        return std::exchange(list, nullptr);
    if (!unused_)
        throw std::bad_alloc();
    return carve(sizeClass);
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
        ::madvise(place, bytes, MADV_HUGEPAGE); // a wish: without huge pages it is like any other memory
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
    chunk->spans[index] = {count, 0, 0};
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
    reclaim();
    return unmapUnused();
}

void Home::addTo(Usage& usage) const noexcept {
    usage.held = chunkCount_ * kChunkBytes;
    usage.unused = unusedCount_ * kSpanBytes;
    usage.cached = freeBytes();
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
