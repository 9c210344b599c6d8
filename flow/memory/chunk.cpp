#include "flow/memory/detail/chunk.h"

#include <sys/mman.h>

namespace flow::memory::detail {

void unmap(void* place, std::size_t bytes) noexcept {
    if (bytes != 0)
        ::munmap(place, bytes);
}

void* mapAligned(std::size_t bytes) noexcept {
    constexpr int kProtection = PROT_READ | PROT_WRITE, kFlags = MAP_PRIVATE | MAP_ANONYMOUS;
    void* place = ::mmap(nullptr, bytes, kProtection, kFlags, -1, 0);
    if (place == MAP_FAILED)
        return nullptr;
    if (reinterpret_cast<std::uintptr_t>(place) % bytes == 0) // usually true: the system maps next to earlier chunks
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

void wishForHugePages(void* place, std::size_t bytes) noexcept {
    ::madvise(place, bytes, MADV_HUGEPAGE);
}

} // namespace flow::memory::detail
