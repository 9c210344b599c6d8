#include "flow/memory/detail/kept_exception.h"

#include "flow/memory/detail/foreign_block.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

namespace flow::memory {
namespace {

/// The table. It is never destroyed, because destructors of static objects may still release blocks.
struct Table {
    std::mutex mutex;
    // nondeterminism: it is never iterated over. An empty map has no memory.
    std::map<void const*, KeptException> kept;
};
Table& table() {
    alignas(Table) static unsigned char place[sizeof(Table)];
    static Table* const made = ::new (static_cast<void*>(place)) Table;
    return *made;
}

/// Replaces the resource of a block that keeps an exception, and passes all calls on to that resource. A task that is
/// made in the context of the failed task takes its block from here too. The last such block frees this object.
class KeepingResource final : public std::pmr::memory_resource {
public:
    explicit KeepingResource(void* block) : block_(block), behind_(&ForeignBlock::of(block)->memory()) {}

private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        void* taken = behind_->allocate(bytes, alignment);
        blocks_.fetch_add(1, std::memory_order_relaxed);
        return taken;
    }
    void do_deallocate(void* place, std::size_t bytes, std::size_t alignment) override {
        auto begin = reinterpret_cast<std::uintptr_t>(place);
        if (reinterpret_cast<std::uintptr_t>(block_) - begin < bytes)
            KeptException::remove(std::exchange(block_, nullptr));
        behind_->deallocate(place, bytes, alignment);
        if (blocks_.fetch_sub(1, std::memory_order_acq_rel) == 1)
            delete this;
    }
    bool do_is_equal(memory_resource const& other) const noexcept override { return this == &other; }

    void const* block_;
    std::pmr::memory_resource* behind_;
    std::atomic<std::size_t> blocks_{1};
};

} // namespace

// The destructor of an exception may run any code, so each function calls it without the lock.

void KeptException::keep(void* block, SizeClass& sizeClass, std::uint32_t mark, std::exception_ptr exception) noexcept {
    try {
        std::lock_guard lock(table().mutex);
        auto place = table().kept.find(block);
        if (place == table().kept.end()) {
            auto resource = sizeClass == kForeignClass ? std::make_unique<KeepingResource>(block) : nullptr;
            place = table().kept.try_emplace(block).first;
            place->second.sizeClass = sizeClass;
            ++blocksOfThread;
            if (resource)
                ForeignBlock::of(block)->setMemory(*resource.release());
            else
                sizeClass = kKeepingClass;
        }
        place->second.mark = mark;
        std::swap(place->second.exception, exception);
    } catch (std::bad_alloc const&) {
    }
}

std::exception_ptr KeptException::find(void const* block, std::uint32_t mark) noexcept {
    std::lock_guard lock(table().mutex);
    auto place = table().kept.find(block);
    return place != table().kept.end() && place->second.mark == mark ? place->second.exception : nullptr;
}

void KeptException::clear(void const* block) noexcept {
    std::exception_ptr dropped;
    std::lock_guard lock(table().mutex);
    if (auto place = table().kept.find(block); place != table().kept.end())
        std::swap(dropped, place->second.exception);
}

SizeClass KeptException::classOf(void const* block) noexcept {
    std::lock_guard lock(table().mutex);
    auto place = table().kept.find(block);
    return place == table().kept.end() ? SizeClass{0} : place->second.sizeClass;
}

SizeClass KeptException::remove(void const* block) noexcept {
    auto node = [block] {
        std::lock_guard lock(table().mutex);
        return table().kept.extract(block);
    }();
    if (blocksOfThread != 0)
        --blocksOfThread;
    return node.mapped().sizeClass;
}

} // namespace flow::memory
