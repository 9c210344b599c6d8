#pragma once
// ScopedArena: a monotonic memory resource that begins again at its first chunk when no block is in use any more.
//
//     ScopedArena arena;                                  // takes chunks from the system as it grows, and keeps them
//     Context inner = (co_await context()).with(arena);
//     for (Request const& request : requests) {
//         for (Part const& part : request.parts)
//             forks.push_back(handle(inner, part));
//         ...
//         forks.clear();
//         co_await destroyForks();                        // no block is in use: the next request gets all memory
//     }
//
// Taking a block moves a pointer, and giving back the newest block moves the pointer back. Other blocks that are given
// back are only counted. When no block is in use, the arena begins again, so that it uses the same memory, which is in
// the cache. The destructor and release() give the chunks back. The arena throws the exceptions of `upstream`, and
// belongs to one thread. All blocks must have been given back before the arena is destroyed.

#include "flow/base/assert.h"
#include "flow/base/inline.h"

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <new>

namespace flow {

class ScopedArena final : public std::pmr::memory_resource {
public:
    static constexpr std::size_t kFirstChunk = 64 << 10;
    static constexpr std::size_t kLargestChunk = 64 << 20;

    /// Makes an empty arena. Chunk sizes double from `firstChunk` bytes to 64 MiB; a larger block gets a larger chunk.
    explicit ScopedArena(std::size_t firstChunk = kFirstChunk,
                         std::pmr::memory_resource& upstream = *std::pmr::new_delete_resource())
        : upstream_(&upstream), nextBytes_(firstChunk < kLeast ? kLeast : firstChunk) {}
    ScopedArena(ScopedArena const&) = delete;
    ScopedArena& operator=(ScopedArena const&) = delete;
    ~ScopedArena() override {
        FLOW_ASSERT(live_ == 0, "a ScopedArena is destroyed while blocks of it are in use");
        release();
    }

    std::size_t live() const { return live_; }
    /// Returns the bytes taken from upstream.
    std::size_t held() const { return held_; }
    /// Gives all chunks back. No block may be in use.
    void release() noexcept {
        FLOW_ASSERT(live_ == 0, "ScopedArena::release() while blocks of it are in use");
        while (Chunk* chunk = first_) {
            first_ = chunk->next;
            upstream_->deallocate(chunk, chunk->bytes, alignof(std::max_align_t));
        }
        begin_ = next_ = end_ = 0;
        held_ = 0;
        current_ = nullptr;
    }

private:
    struct alignas(16) Chunk {
        Chunk* next;
        std::size_t bytes;
    };
    static constexpr std::size_t kLeast = 256;

    FLOW_INLINE void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        std::uintptr_t place = (next_ + alignment - 1) & ~(alignment - 1);
        if (place + bytes > end_ || place < next_) [[unlikely]]
            place = enlarge(bytes, alignment);
        next_ = place + bytes;
        ++live_;
        return reinterpret_cast<void*>(place);
    }
    FLOW_INLINE void do_deallocate(void* block, std::size_t bytes, std::size_t) override {
        auto place = reinterpret_cast<std::uintptr_t>(block);
        if (place + bytes == next_)
            next_ = place;
        if (--live_ == 0)
            beginAnew();
    }
    bool do_is_equal(memory_resource const& other) const noexcept override { return this == &other; }

    FLOW_INLINE void beginAnew() noexcept {
        if (current_ != first_) [[unlikely]]
            use(first_);
        next_ = begin_;
    }
    void use(Chunk* chunk) noexcept {
        current_ = chunk;
        begin_ = next_ = reinterpret_cast<std::uintptr_t>(chunk + 1);
        end_ = reinterpret_cast<std::uintptr_t>(chunk) + chunk->bytes;
    }
    /// Goes on to the next chunk that has room, or to a new one. Returns the address of the block.
    [[gnu::noinline]] std::uintptr_t enlarge(std::size_t bytes, std::size_t alignment) {
        std::size_t needed = sizeof(Chunk) + bytes + alignment;
        if (needed < bytes)
            throw std::bad_alloc();
        Chunk** link = current_ ? &current_->next : &first_;
        while (*link && (*link)->bytes < needed)
            link = &(*link)->next;
        if (!*link) {
            std::size_t size = nextBytes_ < needed ? needed : nextBytes_;
            auto* chunk = static_cast<Chunk*>(upstream_->allocate(size, alignof(std::max_align_t)));
            *link = ::new (chunk) Chunk{nullptr, size};
            held_ += size;
            if (nextBytes_ < kLargestChunk)
                nextBytes_ *= 2;
        }
        use(*link);
        return (next_ + alignment - 1) & ~(alignment - 1);
    }

    std::uintptr_t next_ = 0;
    std::uintptr_t end_ = 0;
    std::size_t live_ = 0;
    std::uintptr_t begin_ = 0;
    Chunk* current_ = nullptr;
    Chunk* first_ = nullptr;
    std::pmr::memory_resource* upstream_;
    std::size_t nextBytes_;
    std::size_t held_ = 0;
};

} // namespace flow
