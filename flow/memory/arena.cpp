#include "flow/memory/arena.h"

#include <atomic>
#include <limits>
#include <new>

namespace flow {

using detail::ArenaBlock;
using detail::ArenaLink;

namespace {

constexpr std::size_t kSmallest = 128;
constexpr std::size_t kHeader = (sizeof(ArenaBlock) + 15) / 16 * 16;

void addReference(ArenaBlock* block) noexcept {
    std::atomic_ref(block->references).fetch_add(1, std::memory_order_relaxed);
}

/// Drops one reference. Returns true if that was the last reference.
bool dropReference(ArenaBlock* block) noexcept {
    std::atomic_ref references(block->references);
    return references.load(std::memory_order_acquire) == 1 || references.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

/// Returns a new block of at least `wanted` bytes, with room for at least `room` bytes. Throws std::bad_alloc.
ArenaBlock* newBlock(std::size_t room, std::size_t wanted) {
    if (room > std::numeric_limits<std::size_t>::max() / 2)
        throw std::bad_alloc();
    std::size_t bytes = kHeader + room < wanted ? wanted : kHeader + room;
    if (bytes <= memory::kLargestBlock)
        bytes = memory::blockBytes(memory::sizeClassOf(bytes));
    auto* memory = static_cast<std::uint8_t*>(memory::allocate(bytes));
    return ::new (memory) ArenaBlock{memory + kHeader, memory + bytes, bytes, nullptr, 1};
}

} // namespace

Arena::Arena(std::size_t bytes) : block_(newBlock(bytes, kSmallest)) {}

Arena::Arena(Arena const& other) noexcept : block_(other.block_) {
    if (block_)
        addReference(block_);
}

void* Arena::allocateSlow(std::size_t bytes) {
    std::size_t wanted = kSmallest;
    if (block_)
        wanted = block_->bytes >= memory::kLargestBlock / 2 ? memory::kLargestBlock : 2 * block_->bytes;
    std::size_t link = block_ ? sizeof(ArenaLink) : 0; // 16 bytes: the memory behind the link stays aligned
    if (bytes > std::numeric_limits<std::size_t>::max() / 4)
        throw std::bad_alloc();
    ArenaBlock* fresh = newBlock(bytes + link, wanted);
    if (block_) {
        fresh->links = ::new (fresh->next) ArenaLink{block_, nullptr}; // takes over this Arena's reference
        fresh->next += link;
    }
    block_ = fresh;
    void* place = fresh->next;
    fresh->next += bytes;
    return place;
}

void Arena::dependsOn(Arena const& other) {
    if (!other.block_ || other.block_ == block_)
        return;
    if (!block_) {
        *this = other;
        return;
    }
    if (block_->links && block_->links->block == other.block_)
        return;
    auto* link = static_cast<ArenaLink*>(allocate(sizeof(ArenaLink)));
    addReference(other.block_);
    block_->links = ::new (link) ArenaLink{other.block_, block_->links};
}

// A chain of blocks may be long, so release() does not recurse. It keeps a list of blocks to free, linked by `next`.
void Arena::release(ArenaBlock* block) noexcept {
    if (!dropReference(block))
        return;
    block->next = nullptr;
    for (ArenaBlock* toFree = block; toFree;) {
        ArenaBlock* freed = toFree;
        toFree = reinterpret_cast<ArenaBlock*>(freed->next);
        for (ArenaLink* link = freed->links; link; link = link->next) {
            if (!dropReference(link->block))
                continue;
            link->block->next = reinterpret_cast<std::uint8_t*>(toFree);
            toFree = link->block;
        }
        memory::release(freed, memory::sizeClassOf(freed->bytes));
    }
}

std::size_t Arena::getSize() const {
    std::size_t total = 0;
    // Follows the last link of each block in a loop, and other links by recursion. The last link leads to the previous
    // block of the arena, so a long chain of blocks needs no deep recursion.
    auto add = [&total](auto& self, ArenaBlock const* block) -> void {
        while (block) {
            total += block->bytes;
            ArenaLink const* link = block->links;
            block = nullptr;
            for (; link; link = link->next) {
                if (link->next)
                    self(self, link->block);
                else
                    block = link->block;
            }
        }
    };
    add(add, block_);
    return total;
}

} // namespace flow
