#include "net/message/detail/slab.h"

#include "flow/memory/fast_allocator.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>

namespace flow::net {
namespace {

constexpr std::size_t kSmallestKept = 1024;
constexpr std::size_t kKept = std::size_t{8} << 20; // the most bytes that a thread caches
constexpr int kClasses = std::countr_zero(SlabRef::kLargestKept / kSmallestKept) + 1;

struct Free {
    Free* next;
};

/// The cache of freed slabs.
struct Pool {
    Free* classes[kClasses] = {};
    std::size_t bytes = 0;
    bool isOver = false;

    ~Pool() {
        isOver = true;
        for (Free*& list : classes)
            while (list)
                std::free(std::exchange(list, list->next));
    }
};
thread_local Pool pool;

int classOf(std::size_t capacity) {
    return std::countr_zero(capacity / kSmallestKept);
}

} // namespace

SlabRef SlabRef::make(std::size_t bytes) {
    void* block;
    if (bytes < kSmallestKept) {
        bytes = std::max<std::size_t>(bytes, 1);
        block = memory::allocate(sizeof(Slab) + bytes);
    } else {
        bytes = std::bit_ceil(bytes);
        Free** list = bytes <= kLargestKept ? &pool.classes[classOf(bytes)] : nullptr;
        if (list && *list) {
            block = std::exchange(*list, (*list)->next);
            pool.bytes -= bytes;
        } else if (!(block = std::malloc(sizeof(Slab) + bytes))) {
            throw std::bad_alloc();
        }
    }
    SlabRef made;
    made.slab_ = ::new (block) Slab;
    made.slab_->references_ = 1;
    made.slab_->capacity_ = static_cast<std::uint32_t>(bytes);
    return made;
}

void SlabRef::free(Slab* slab) noexcept {
    std::size_t bytes = slab->capacity_;
    if (bytes < kSmallestKept)
        return memory::release(slab, memory::sizeClassOf(sizeof(Slab) + bytes));
    if (bytes > kLargestKept || pool.isOver || pool.bytes + bytes > kKept)
        return std::free(slab);
    Free*& list = pool.classes[classOf(bytes)];
    list = ::new (slab) Free{list};
    pool.bytes += bytes;
}

} // namespace flow::net
