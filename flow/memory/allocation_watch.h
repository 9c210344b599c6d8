#pragma once
// AllocationWatch: an object that is called for each block that FastAllocator gives or takes back on this thread.
//
//     struct Count : memory::AllocationWatch {
//         std::uint64_t blocks = 0;
//         void allocated(void*, void*) noexcept override { ++blocks; }
//     };
//
//     Count count;
//     Future<int> answer = compute();        // count.blocks: the number of blocks that compute() took
//
// Without a watch there is no cost. While a watch exists, the thread's free lists are empty, so that every call of the
// allocator takes its slow path. If a thread has several watches, the newest is called first, and must be destroyed
// first. Other threads are not affected, and blocks that another thread frees are not reported.

#include "flow/base/non_copyable.h"
#include "flow/memory/fast_allocator.h"

namespace flow::memory {

class AllocationWatch : NonCopyable {
public:
    AllocationWatch();
    virtual ~AllocationWatch();

protected:
    /// Called before a block is taken. If allocating() returns false, the caller gets std::bad_alloc.
    virtual bool allocating() noexcept { return true; }
    /// Called with a new block. `cell` is the address of the Cell (flow/core/cell.h) in the block; null if it has none.
    virtual void allocated([[maybe_unused]] void* block, [[maybe_unused]] void* cell) noexcept {}
    virtual void released([[maybe_unused]] void* block) noexcept {}

private:
    friend FLOW_RARE void* detail::allocateSlow(std::size_t bytes, SizeClass sizeClass) noexcept;
    friend FLOW_RARE void* detail::allocateCellSlow(std::size_t bytes, SizeClass sizeClass,
                                                    std::size_t prefixBytes) noexcept;
    friend FLOW_RARE void detail::releaseSlow(void* block, SizeClass sizeClass) noexcept;

    static constexpr std::size_t kNoCell = static_cast<std::size_t>(-1);
    /// Returns null if there is no memory, or if a watch refuses.
    static void* allocate(std::size_t bytes, SizeClass sizeClass, std::size_t prefixBytes) noexcept;
    static void release(void* block, SizeClass sizeClass) noexcept;

    AllocationWatch* outer_;
};

} // namespace flow::memory
