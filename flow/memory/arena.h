#pragma once
// Arena: memory that is taken piece by piece and given back all at once.
//
//     Arena arena;
//     auto* bytes = new (arena) std::uint8_t[40];
//     StringRef name("text"_sr, arena);            // a copy in the arena; flow/memory/string_ref.h
//     arena.dependsOn(other);                      // `arena` keeps the memory of `other`
//
// An Arena is one pointer. A copy shares the memory that has been taken so far. Memory is kept while one of these
// exists: the Arena that took it, a copy of that Arena that was made later, or an Arena that depends on one of the two.
// Destructors of objects in an arena never run. Copies may be passed to other threads (references are counted
// atomically), but two threads must not take memory from copies of one Arena at the same time. The memory of two arenas
// that depend on each other is never freed. Taking memory is a few instructions. An Arena takes blocks from
// FastAllocator. Each block is twice as large as the previous one, up to 4096 bytes, or larger if a piece needs it.

#include "flow/memory/fast_allocator.h"

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace flow {

namespace detail {
struct ArenaBlock;
}

class Arena {
public:
    Arena() = default;
    /// Makes an arena with one block, which has room for `bytes` bytes.
    explicit Arena(std::size_t bytes);
    Arena(Arena const& other) noexcept;
    Arena(Arena&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
    Arena& operator=(Arena other) noexcept {
        std::swap(block_, other.block_);
        return *this;
    }
    ~Arena() {
        if (block_)
            release(block_);
    }

    /// Returns `bytes` bytes of uninitialised memory. `alignment` is a power of two up to 16. Throws std::bad_alloc.
    void* allocate(std::size_t bytes, std::size_t alignment = 16) {
        if (std::uint8_t* place = takeFromBlock(bytes, alignment))
            return place;
        return allocateSlow(bytes);
    }
    /// Keeps the memory that `other` holds at this moment, as long as this arena exists. Throws std::bad_alloc.
    void dependsOn(Arena const& other);

    /// Takes `bytes` more bytes if the memory taken last ends at `end` and there is room. Otherwise returns false.
    bool extend(void const* end, std::size_t bytes);

    /// Returns the bytes of all blocks that this arena keeps alive. A block counts twice if two blocks link to it.
    std::size_t getSize() const;
    /// True if this arena and `other` take memory from the same block.
    bool sameArena(Arena const& other) const { return block_ == other.block_; }

private:
    std::uint8_t* takeFromBlock(std::size_t bytes, std::size_t alignment);
    void* allocateSlow(std::size_t bytes);
    static void release(detail::ArenaBlock* block) noexcept;

    detail::ArenaBlock* block_ = nullptr;
};

namespace detail {

/// An entry in the list of blocks that one block keeps alive.
struct ArenaLink {
    ArenaBlock* block;
    ArenaLink* next;
};

struct ArenaBlock {
    std::uint8_t* next; // the free part of the block begins here
    std::uint8_t* end;
    std::size_t bytes; // size of the whole block
    ArenaLink* links;
    std::int32_t references; // changed by atomic operations
};

} // namespace detail

inline std::uint8_t* Arena::takeFromBlock(std::size_t bytes, std::size_t alignment) {
    if (!block_)
        return nullptr;
    auto address = reinterpret_cast<std::uintptr_t>(block_->next);
    std::size_t padding = -address & (alignment - 1);
    auto room = static_cast<std::size_t>(block_->end - block_->next);
    if (room < padding || room - padding < bytes)
        return nullptr;
    std::uint8_t* place = block_->next + padding;
    block_->next = place + bytes;
    return place;
}

inline bool Arena::extend(void const* end, std::size_t bytes) {
    if (!block_ || block_->next != end || static_cast<std::size_t>(block_->end - block_->next) < bytes)
        return false;
    block_->next += bytes;
    return true;
}

/// Returns a copy of `value`. If T has a constructor (Arena&, T const&), it copies the memory of `value` into `arena`.
template <class T>
T deepCopy(Arena& arena, T const& value) {
    if constexpr (std::is_constructible_v<T, Arena&, T const&>)
        return T(arena, value);
    else
        return value;
}

} // namespace flow

/// `new (arena) T(...)` and `new (arena) T[n]` make objects in an arena. These objects must not be deleted.
inline void* operator new(std::size_t bytes, flow::Arena& arena) {
    return arena.allocate(bytes);
}
inline void* operator new[](std::size_t bytes, flow::Arena& arena) {
    return arena.allocate(bytes);
}
inline void operator delete(void*, flow::Arena&) noexcept {}
inline void operator delete[](void*, flow::Arena&) noexcept {}
