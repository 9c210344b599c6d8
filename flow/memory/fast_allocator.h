#pragma once
// FastAllocator: fixed-size blocks for actors, coroutine frames and futures.
//
//     void* block = FastAllocator<88>::allocate();      // a block of 96 bytes
//     FastAllocator<88>::release(block);
//
//     struct Request : FastAllocated<Request> { ... };  // new and delete use it
//
// Each thread has its own free lists, one for each size class: 16-byte steps up to 512 bytes, and four steps for each
// doubling up to 4096. Larger blocks come from the system. Taking and giving back a block is a few instructions without
// locks or calls. A block may be freed on another thread; from there it returns to the thread that owns its memory,
// many at a time. Memory that a thread holds when it ends goes to other threads.
//
// Free memory of one class serves the others when they need more. flow/memory/detail/thread_heap.h says how, and how
// much memory can lie idle at most; trim() gives idle memory to the system.
//
// Under AddressSanitizer every block comes from the system, so that use after free is found. In code for shared objects
// (-fPIC) each access to a thread_local is a function call. -ftls-model=initial-exec avoids it, but is only for shared
// objects that are loaded when the program starts.

#include "flow/base/inline.h"

#include <cstddef>
#include <cstdint>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#define FLOW_SYSTEM_BLOCKS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FLOW_SYSTEM_BLOCKS 1
#endif
#endif
#ifndef FLOW_SYSTEM_BLOCKS
#define FLOW_SYSTEM_BLOCKS 0
#endif

namespace flow::memory {

class AllocationWatch;

/// The index of a size class. Blocks that the system provides have kSystemClass.
using SizeClass = std::uint8_t;

inline constexpr std::size_t kFineLimit = 512;     // 16-byte steps up to here
inline constexpr std::size_t kLargestBlock = 4096; // larger ones come from the system
inline constexpr SizeClass kSystemClass = 45;
inline constexpr SizeClass kForeignClass = 46; // blocks of another allocator: flow/memory/detail/foreign_block.h
inline constexpr SizeClass kPaddedClass = 47;  // cells behind padding: flow/memory/detail/padded_block.h
inline constexpr std::size_t kClassCount = kPaddedClass + 1;

/// The greatest alignment of blocks. A block is aligned to the largest power of two up to this that divides its size.
inline constexpr std::size_t kMostAlignment = 64;
constexpr std::size_t roundUp(std::size_t bytes, std::size_t alignment) {
    return (bytes + alignment - 1) & -alignment;
}

/// Returns the class for blocks of `bytes` bytes. If `bytes` is a constant, so is the result.
constexpr SizeClass sizeClassOf(std::size_t bytes) {
    if (bytes <= kFineLimit)
        return static_cast<SizeClass>(bytes == 0 ? 1 : (bytes + 15) / 16);
    if (bytes > kLargestBlock)
        return kSystemClass;
    auto log = static_cast<unsigned>(63 - __builtin_clzll(bytes - 1)); // 512 < bytes: log >= 9
    std::size_t step = std::size_t{1} << (log - 2);
    return static_cast<SizeClass>(32 + (log - 9) * 4 + (bytes - (std::size_t{1} << log) + step - 1) / step);
}

/// Returns the bytes of a block of this class; 0 for kSystemClass.
constexpr std::size_t blockBytes(SizeClass sizeClass) {
    if (sizeClass <= 32)
        return sizeClass * std::size_t{16};
    if (sizeClass >= kSystemClass)
        return 0;
    unsigned log = 9 + (sizeClass - 33u) / 4;
    return (std::size_t{1} << log) + ((sizeClass - 33u) % 4 + 1) * (std::size_t{1} << (log - 2));
}

namespace detail {

struct FreeBlock {
    FreeBlock* next;
};

struct FreeList {
    FreeBlock* first = nullptr;
    std::uint64_t allocated = 0;
    std::uint64_t toBeFreed = 1; // the release that counts this down to 0 calls releaseSlow()
    std::uint64_t freedThen = 1; // the number of blocks freed with that release

    std::uint64_t freed() const { return freedThen - toBeFreed; }
};

struct Heap {
    FreeList classes[kClassCount];
};

inline constinit thread_local Heap heap{};
/// The innermost watch of this thread: flow/memory/allocation_watch.h.
inline constinit thread_local AllocationWatch* watch = nullptr;

/// Takes a block from the system, or fills the free list of the class and takes one from it. Returns null, with
/// everything unchanged, if there is no memory.
FLOW_RARE void* allocateSlow(std::size_t bytes, SizeClass sizeClass) noexcept;
/// Like allocateSlow(), for a block with a result cell behind `prefixBytes`. A watch gets the address of that cell.
FLOW_RARE void* allocateCellSlow(std::size_t bytes, SizeClass sizeClass, std::size_t prefixBytes) noexcept;
[[noreturn]] void throwBadAlloc();
/// Releases a block, and then searches the free list for blocks of other threads. Blocks of kSystemClass and above
/// always come here, so that release() needs only one test.
FLOW_RARE void releaseSlow(void* block, SizeClass sizeClass) noexcept;

template <class Slow>
FLOW_INLINE void* allocate(std::size_t bytes, Slow slow) {
    SizeClass sizeClass = sizeClassOf(bytes);
    FreeList& list = heap.classes[sizeClass];
    FreeBlock* block = list.first;
    if (FLOW_SYSTEM_BLOCKS || __builtin_expect(block == nullptr, false)) {
        void* taken = slow(bytes, sizeClass);
        if (!taken)
            throwBadAlloc();
        return taken;
    }
    list.first = block->next;
    ++list.allocated;
    return block;
}

} // namespace detail

/// Returns a block of at least `bytes` bytes, aligned to 16, and to 32 or 64 if `bytes` is a multiple of that. Throws
/// std::bad_alloc; the allocator stays usable.
inline void* allocate(std::size_t bytes) {
    return detail::allocate(bytes, detail::allocateSlow);
}
/// Like allocate(), for a block in which a result cell follows `prefixBytes` of value.
FLOW_INLINE void* allocateCell(std::size_t bytes, std::size_t prefixBytes) {
    return detail::allocate(bytes, [prefixBytes](std::size_t size, SizeClass sizeClass) {
        return detail::allocateCellSlow(size, sizeClass, prefixBytes);
    });
}

/// Gives back a block of `allocate(bytes)` with `sizeClassOf(bytes) == sizeClass`.
inline void release(void* block, SizeClass sizeClass) noexcept {
    detail::FreeList* list = &detail::heap.classes[sizeClass];
    asm("" : "+r"(list)); // clang would compute it again for each of its members
    if (__builtin_expect(--list->toBeFreed == 0, false))
        return detail::releaseSlow(block, static_cast<SizeClass>(list - detail::heap.classes));
    auto* freed = static_cast<detail::FreeBlock*>(block);
    freed->next = list->first;
    list->first = freed;
}

/// The counters of one thread for one class.
struct Statistics {
    std::size_t blockBytes = 0;
    std::uint64_t allocated = 0;
    std::uint64_t freed = 0;
    /// Returns the number of blocks in use. It is negative if the thread freed more blocks of others than it allocated.
    std::int64_t live() const { return static_cast<std::int64_t>(allocated - freed); }
    std::int64_t liveBytes() const { return live() * static_cast<std::int64_t>(blockBytes); }
};

/// Returns the counters of the calling thread for one class; `blockBytes` is 0 for kSystemClass.
Statistics statistics(SizeClass sizeClass) noexcept;
/// Returns the counters of the calling thread over all classes; `blockBytes` is 0.
Statistics totalStatistics() noexcept;

/// The use of the calling thread's memory, in bytes. Blocks above kLargestBlock do not count.
struct Usage {
    std::size_t held = 0;   // taken from the system
    std::size_t unused = 0; // of `held`: free for any class
    std::size_t cached = 0; // of `held`: free blocks of some class. Some may be of other threads' memory
    std::int64_t live = 0;  // of `held`: allocated and not freed. It may be negative, as in Statistics
    /// Returns the bytes of `held` that no live block uses: `unused`, `cached`, and ends of spans too short for a
    /// block.
    std::int64_t waste() const { return static_cast<std::int64_t>(held) - live; }
};
Usage usage() noexcept;

/// Gives chunks of 256 KiB without live blocks back to the system: those of this thread, and of threads that have
/// ended. Returns their bytes. No loop calls trim(). It visits every free block: a million take 20 ms in order, 160 ms
/// at random. It gives back nothing if every chunk has a live block, and memory that is needed again is then slow to
/// get. Call it when many objects have ended that are not needed again soon, and when a pause does no harm.
std::size_t trim() noexcept;

/// Returns the bytes of chunks that all threads together hold. Resident memory is at most that.
std::size_t heldBytes() noexcept;
/// Sets the most memory that all threads together may hold. If more is needed, allocate() throws std::bad_alloc; free
/// blocks can still be used. Returns the previous limit; at first there is none.
std::size_t setHeldLimit(std::size_t bytes) noexcept;

} // namespace flow::memory

namespace flow {

/// Blocks of one fixed size.
template <std::size_t Size>
struct FastAllocator {
    [[nodiscard]] static void* allocate() { return memory::allocate(Size); }
    static void release(void* block) noexcept { memory::release(block, memory::sizeClassOf(Size)); }
};

/// Base class with a `new` and a `delete` that take blocks of the exact size of Object, which must be the most derived
/// class.
template <class Object>
struct FastAllocated {
    [[nodiscard]] static void* operator new(std::size_t bytes) {
        static_assert(alignof(Object) <= 16, "blocks are aligned to 16 bytes");
        return memory::allocate(bytes);
    }
    static void operator delete(void* block, std::size_t bytes) noexcept {
        memory::release(block, memory::sizeClassOf(bytes));
    }
};

} // namespace flow
