#pragma once
// FastAllocator: fixed-size blocks for actors, coroutine frames and futures.
//
//     void* block = FastAllocator<88>::allocate();      // a block of 96 bytes
//     FastAllocator<88>::release(block);
//
//     struct Request : FastAllocated<Request> { ... };  // new and delete use FastAllocator
//
// Each thread has its own free lists, one for each size class: 16-byte steps up to 512 bytes, and four steps for each
// doubling up to 4096. Larger blocks come from the system. Taking and giving back a block is a few instructions without
// locks or calls. A block may be freed on another thread. That thread sends the block back to the thread that owns its
// memory, many blocks at a time. Memory that a thread holds when it ends goes to other threads.
//
// Free memory of one class can serve another class that needs more. flow/memory/detail/thread_heap.h says how, and how
// much memory can lie idle at most. trim() gives idle memory to the system.
//
// Under AddressSanitizer every block comes from the system, so the sanitizer finds use after free. In code for shared
// objects (-fPIC) each access to a thread_local is a function call. -ftls-model=initial-exec avoids that call, but can
// be used only for shared objects that are loaded when the program starts.

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
inline constexpr std::size_t kLargestBlock = 4096; // larger blocks come from the system
inline constexpr SizeClass kSystemClass = 45;
inline constexpr SizeClass kForeignClass = 46; // blocks of another allocator: flow/memory/detail/foreign_block.h
inline constexpr SizeClass kPaddedClass = 47;  // cells behind padding: flow/memory/detail/padded_block.h
inline constexpr SizeClass kKeepingClass = 48; // blocks with an exception: flow/memory/detail/kept_exception.h
inline constexpr std::size_t kClassCount = kKeepingClass + 1;

/// The greatest alignment of blocks. A block is aligned to the largest power of two up to 64 that divides its size.
inline constexpr std::size_t kMostAlignment = 64;
constexpr std::size_t roundUp(std::size_t bytes, std::size_t alignment) {
    return (bytes + alignment - 1) & -alignment;
}

/// Returns the class for blocks of `bytes` bytes. If `bytes` is a constant, the result is a constant too.
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
    std::uint64_t toBeFreed = 1; // the release that counts toBeFreed down to 0 calls releaseSlow()
    std::uint64_t freedThen = 1; // the value of freed() at the end of that release

    std::uint64_t freed() const { return freedThen - toBeFreed; }
};

struct Heap {
    FreeList classes[kClassCount];
};

inline constinit thread_local Heap heap{};
/// The innermost watch of this thread: flow/memory/allocation_watch.h.
inline constinit thread_local AllocationWatch* watch = nullptr;

/// Takes a block from the system, or from a newly filled free list. Without memory, returns null and changes nothing.
FLOW_RARE void* allocateSlow(std::size_t bytes, SizeClass sizeClass) noexcept;
/// Like allocateSlow(), for a block with a result cell behind `prefixBytes`. A watch gets the address of that cell.
FLOW_RARE void* allocateCellSlow(std::size_t bytes, SizeClass sizeClass, std::size_t prefixBytes) noexcept;
[[noreturn]] void throwBadAlloc();
/// Releases a block, and then searches the free list for blocks of other threads. release() passes each block of
/// kSystemClass and above to releaseSlow(), so release() needs only one test.
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

/// Returns a block of at least `bytes` bytes. It is aligned to 16 bytes, to 32 if `bytes` is a multiple of 32, and to
/// 64 if `bytes` is a multiple of 64. Throws std::bad_alloc; the allocator stays usable after that.
inline void* allocate(std::size_t bytes) {
    return detail::allocate(bytes, detail::allocateSlow);
}
/// Like allocate(), for a block with a result cell behind `prefixBytes` bytes.
FLOW_INLINE void* allocateCell(std::size_t bytes, std::size_t prefixBytes) {
    return detail::allocate(bytes, [prefixBytes](std::size_t size, SizeClass sizeClass) {
        return detail::allocateCellSlow(size, sizeClass, prefixBytes);
    });
}

/// Gives back a block that allocate(bytes) has returned. `sizeClass` must be sizeClassOf(bytes).
inline void release(void* block, SizeClass sizeClass) noexcept {
    detail::FreeList* list = &detail::heap.classes[sizeClass];
    asm("" : "+r"(list)); // otherwise clang computes the address again for each member
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
    /// Returns the number of blocks in use. It is negative if the thread freed more blocks than it allocated.
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
    std::size_t unused = 0; // a part of `held`: free for any class
    std::size_t cached = 0; // free blocks, each for its class. Blocks of other threads' memory may be among them
    std::int64_t live = 0;  // allocated minus freed, as in Statistics. It may be negative
    /// Returns the bytes of `held` that no live block uses: `unused`, `cached`, and the ends of spans (pieces of 16 KiB
    /// that are cut into blocks), where no block fits.
    std::int64_t waste() const { return static_cast<std::int64_t>(held) - live; }
};
Usage usage() noexcept;

/// Gives chunks (256 KiB) without live blocks back to the system: chunks of this thread and of threads that have ended.
/// Returns the bytes of these chunks; 0 if every chunk has a live block. No loop calls trim(). It visits every free
/// block: a million blocks take 20 ms in order, 160 ms in random order. Memory given back is slow to get again. Call
/// trim() after many objects have ended, if their memory is not needed again soon and a pause does no harm.
std::size_t trim() noexcept;

/// Returns the bytes of chunks that all threads together hold. The resident memory of these chunks may be less.
std::size_t heldBytes() noexcept;
/// Sets a limit for the bytes of chunks that all threads together hold. If more is needed, allocate() throws
/// std::bad_alloc; free blocks can still be used. Returns the previous limit. At first there is no limit.
std::size_t setHeldLimit(std::size_t bytes) noexcept;

} // namespace flow::memory

namespace flow {

template <std::size_t Size>
struct FastAllocator {
    [[nodiscard]] static void* allocate() { return memory::allocate(Size); }
    static void release(void* block) noexcept { memory::release(block, memory::sizeClassOf(Size)); }
};

/// The base class of an Object for which `new` takes memory from FastAllocator. No class may be derived from Object.
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
