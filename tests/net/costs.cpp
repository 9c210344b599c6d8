#include "tests/net/costs.h"

#include <cstring>

namespace {

constinit thread_local std::size_t moved = 0;

template <std::size_t kBytes>
void copy(char* to, char const* from) {
    char between[kBytes];
    std::memcpy(between, from, kBytes);
    std::memcpy(to, between, kBytes);
    asm volatile("" ::: "memory"); // else the compiler makes a memmove() of the loop
}

/// The rest of a size, in pieces of powers of two.
template <std::size_t kBytes>
void copyRest(char* to, char const* from, std::size_t size, bool isForward) {
    if constexpr (kBytes != 0) {
        std::size_t own = size & kBytes;
        if (!isForward)
            copyRest<kBytes / 2>(to + own, from + own, size, false);
        if (own != 0)
            copy<kBytes>(to, from);
        if (isForward)
            copyRest<kBytes / 2>(to + own, from + own, size, true);
    }
}

} // namespace

std::size_t flow::test::allMovedBytes() {
    return moved;
}

#if !FLOW_ADDRESS_SANITIZER && !FLOW_THREAD_SANITIZER
/// Takes the place of the C library's, also for the standard library.
extern "C" void* memmove(void* target, void const* source, std::size_t size) noexcept {
    constexpr std::size_t kPiece = 64;
    auto* to = static_cast<char*>(target);
    auto const* from = static_cast<char const*>(source);
    moved += size;
    std::size_t whole = size - size % kPiece;
    if (reinterpret_cast<std::uintptr_t>(to) < reinterpret_cast<std::uintptr_t>(from)) {
        for (std::size_t at = 0; at < whole; at += kPiece)
            copy<kPiece>(to + at, from + at);
        copyRest<kPiece / 2>(to + whole, from + whole, size, true);
    } else {
        copyRest<kPiece / 2>(to + whole, from + whole, size, false);
        for (std::size_t at = whole; at != 0; at -= kPiece)
            copy<kPiece>(to + at - kPiece, from + at - kPiece);
    }
    return target;
}
#endif
