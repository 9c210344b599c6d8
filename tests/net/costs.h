#pragma once
// What the bytes of a peer cost: memory, and bytes that are moved about.
//
//     std::int64_t before = usedBytes();
//     std::size_t moved = movedBytes([&] { ... });
//     CHECK(usedBytes() - before < ...);
//
// Sanitizers have a memmove() and a malloc() of their own: there kCountsCosts is false, and both functions return 0.

#include "flow/base/sanitizer.h"
#include "flow/memory/fast_allocator.h"

#include <cstddef>
#include <cstdint>
#include <malloc.h>

namespace flow::test {

#if FLOW_ADDRESS_SANITIZER || FLOW_THREAD_SANITIZER
constexpr bool kCountsCosts = false;
#else
constexpr bool kCountsCosts = true;
#endif

/// Bytes that this thread has given to memmove() since it began.
std::size_t allMovedBytes();

template <class Function>
std::size_t movedBytes(Function function) {
    std::size_t before = allMovedBytes();
    function();
    return allMovedBytes() - before;
}

/// Memory in use, from this thread's heap and from malloc. Resident memory may not grow after an earlier test.
inline std::int64_t usedBytes() {
    if constexpr (!kCountsCosts)
        return 0;
    return memory::usage().live + static_cast<std::int64_t>(::mallinfo2().uordblks + ::mallinfo2().hblkhd);
}

} // namespace flow::test
