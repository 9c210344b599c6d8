#pragma once
// Runs a piece of code on a thread with a small stack: a test that something needs the same stack for any length.
//
//     onSmallStack(kSmallStack, [] { chain of kManyLinks links });

#include "flow/memory/fast_allocator.h"

#include <cstddef>
#include <cstdlib>
#include <pthread.h>

namespace flow::test {

inline void onSmallStack(std::size_t stackBytes, void (*body)()) {
    pthread_attr_t attributes;
    pthread_t thread;
    auto entry = [](void* function) -> void* {
        reinterpret_cast<void (*)()>(function)();
        return nullptr;
    };
    if (pthread_attr_init(&attributes) != 0 || pthread_attr_setstacksize(&attributes, stackBytes) != 0 ||
        pthread_create(&thread, &attributes, entry, reinterpret_cast<void*>(body)) != 0)
        std::abort();
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
}

/// 256 KiB and a million links. AddressSanitizer puts red zones around every local, calls through its own unwinder and
/// poisons frames slowly: there, fewer links on a larger stack (which a recursion would still overflow).
#if FLOW_SYSTEM_BLOCKS
inline constexpr std::size_t kSmallStack = 2 << 20;
inline constexpr int kManyLinks = 50000;
#else
inline constexpr std::size_t kSmallStack = 256 << 10;
inline constexpr int kManyLinks = 1000000;
#endif

} // namespace flow::test
