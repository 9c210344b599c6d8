#pragma once
// Runs a piece of code on another stack: on a thread with a small one, to test that something needs the same stack for
// any length, or on one that is not a thread's.
//
//     onSmallStack(kSmallStack, [] { chain of kManyLinks links });

#include "flow/memory/fast_allocator.h"
#include "tests/flow/support/sanitizers.h"

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <pthread.h>
#include <ucontext.h>

namespace flow::test {

/// The thread's stack has at least what the system asks for: 128 KiB on aarch64.
inline void onSmallStack(std::size_t stackBytes, void (*body)()) {
    stackBytes = std::max(stackBytes, static_cast<std::size_t>(PTHREAD_STACK_MIN));
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

/// On a stack that is not the thread's, as fibers have.
inline void onForeignStack(void (*body)()) {
    static thread_local ucontext_t here, there;
    std::unique_ptr<char[]> stack(new char[1 << 20]);
    if (getcontext(&there) != 0)
        std::abort();
    there.uc_stack.ss_sp = stack.get();
    there.uc_stack.ss_size = 1 << 20;
    there.uc_link = &here;
    makecontext(&there, body, 0);
    if (swapcontext(&here, &there) != 0)
        std::abort();
}

/// A call takes 16 bytes at least, so that a recursion would need twice the stack. AddressSanitizer puts red zones
/// around every local, calls through its own unwinder and poisons frames slowly: there, fewer links on a larger stack
/// (which a recursion would still overflow).
#if FLOW_SYSTEM_BLOCKS
inline constexpr std::size_t kSmallStack = 2 << 20;
inline constexpr int kManyLinks = 20000;
#else
inline constexpr std::size_t kSmallStack = 256 << 10;
inline constexpr int kManyLinks = 40000;
static_assert(16 * kManyLinks > 2 * kSmallStack);
#endif

} // namespace flow::test
