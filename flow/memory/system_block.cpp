#include "flow/memory/detail/system_block.h"

#if FLOW_SYSTEM_BLOCKS

#include "flow/base/intrusive_list.h"

#include <mutex>
#include <new>
#include <pthread.h>

namespace flow::memory::detail {
namespace {

struct alignas(kMostAlignment) Header : ListLink {
    void const* thread;
    std::size_t bytes;
};

std::mutex& mutex() {
    static auto* const made = [] {
        auto* lock = new std::mutex; // never destroyed: late destructors still free blocks
        // A child process has only the thread that called fork(). A mutex locked by another thread would stay locked.
        ::pthread_atfork([] { mutex().lock(); }, [] { mutex().unlock(); }, [] { mutex().unlock(); });
        return lock;
    }();
    return *made;
}
ListLink& blocks() {
    static auto* const made = [] {
        auto* list = new ListLink;
        list->reset();
        return list;
    }();
    return *made;
}
void const* thisThread() {
    static constinit thread_local char mark = 0;
    return &mark;
}

} // namespace

void* systemAllocate(std::size_t bytes) noexcept {
    void* place = nullptr;
    if (::posix_memalign(&place, alignof(Header), sizeof(Header) + bytes) != 0)
        return nullptr;
    auto* header = ::new (place) Header;
    header->thread = thisThread();
    header->bytes = bytes;
    std::lock_guard lock(mutex());
    flow::detail::pushBack(blocks(), *header);
    return header + 1;
}

void systemFree(void* block) noexcept {
    Header* header = static_cast<Header*>(block) - 1;
    {
        std::lock_guard lock(mutex());
        header->unlink();
    }
    std::free(header);
}

std::size_t systemBytes(void* block) noexcept {
    return (static_cast<Header*>(block) - 1)->bytes;
}

void forEachSystemBlock(void (*visit)(void* context, void* block, std::size_t bytes), void* context) {
    std::lock_guard lock(mutex());
    for (ListLink* link = blocks().next; link != &blocks(); link = link->next)
        if (auto* header = static_cast<Header*>(link); header->thread == thisThread())
            visit(context, header + 1, header->bytes);
}

} // namespace flow::memory::detail

#endif
