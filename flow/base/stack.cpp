#include "flow/base/stack.h"

#include <cstddef>
#include <cstdint>
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define FLOW_ADDRESS_SANITIZER 1
#elif defined(__SANITIZE_THREAD__)
#define FLOW_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FLOW_ADDRESS_SANITIZER 1
#elif __has_feature(thread_sanitizer)
#define FLOW_THREAD_SANITIZER 1
#endif
#endif
#if FLOW_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#elif FLOW_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace flow {
namespace {

#if FLOW_THREAD_SANITIZER
constexpr std::size_t kNewStackBytes = std::size_t{2} << 20; // it keeps no more than 65,536 calls of each
#else
constexpr std::size_t kNewStackBytes = std::size_t{8} << 20;
#endif
constexpr std::size_t kGuardBytes = 64 << 10; // of its lower end: whoever runs into it ends there

struct Bounds {
    std::uintptr_t low = 0; // where the last quarter begins
    std::uintptr_t high = 0;
    bool isKnown = false;

    static Bounds of(void* lowest, std::size_t bytes) {
        auto begin = reinterpret_cast<std::uintptr_t>(lowest);
        return {begin + bytes / 4, begin + bytes, true};
    }
};

/// Of the stack that the thread runs on.
constinit thread_local Bounds current;

Bounds boundsOfThread() noexcept {
    pthread_attr_t attributes;
    if (::pthread_getattr_np(::pthread_self(), &attributes) != 0)
        return {0, 0, true}; // every place is outside
    void* lowest = nullptr;
    std::size_t bytes = 0;
    ::pthread_attr_getstack(&attributes, &lowest, &bytes);
    ::pthread_attr_destroy(&attributes);
    return Bounds::of(lowest, bytes);
}

/// A call under way on a stack of its own.
struct Call {
    void (*work)(void*);
    void* argument;
    ucontext_t caller;
    ucontext_t callee;
#if FLOW_THREAD_SANITIZER
    void* callerFiber = nullptr;
#endif
};
constinit thread_local Call* starting = nullptr; // since makecontext() passes nothing but ints

#if FLOW_ADDRESS_SANITIZER
// It must know on which stack it is, or takes what exceptions leave behind there for errors.
void start() noexcept {
    Call* call = std::exchange(starting, nullptr);
    const void* lowest = nullptr;
    std::size_t bytes = 0;
    __sanitizer_finish_switch_fiber(nullptr, &lowest, &bytes);
    call->work(call->argument);
    __sanitizer_start_switch_fiber(nullptr, lowest, bytes);
}
void enter(Call& call) noexcept {
    void* own = nullptr;
    __sanitizer_start_switch_fiber(&own, call.callee.uc_stack.ss_sp, call.callee.uc_stack.ss_size);
    ::swapcontext(&call.caller, &call.callee);
    __sanitizer_finish_switch_fiber(own, nullptr, nullptr);
}
#elif FLOW_THREAD_SANITIZER
// A fiber has a list of calls of its own; these functions must be in none of the two.
[[clang::disable_sanitizer_instrumentation]] void start() noexcept {
    Call* call = starting;
    starting = nullptr;
    call->work(call->argument);
    __tsan_switch_to_fiber(call->callerFiber, 0);
}
[[clang::disable_sanitizer_instrumentation]] void enter(Call& call) noexcept {
    void* fiber = __tsan_create_fiber(0);
    call.callerFiber = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(fiber, 0);
    ::swapcontext(&call.caller, &call.callee);
    __tsan_destroy_fiber(fiber);
}
#else
void start() noexcept {
    Call* call = std::exchange(starting, nullptr);
    call->work(call->argument);
}
void enter(Call& call) noexcept {
    ::swapcontext(&call.caller, &call.callee);
}
#endif

} // namespace

bool stackIsShort() noexcept {
    if (!current.isKnown)
        current = boundsOfThread();
    auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    return here < current.low || here >= current.high;
}

void detail::callOnNewStack(void (*work)(void*), void* argument) noexcept {
    void* memory = ::mmap(nullptr, kNewStackBytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    Call call{work, argument, {}, {}};
    if (memory == MAP_FAILED || ::mprotect(memory, kGuardBytes, PROT_NONE) != 0 || ::getcontext(&call.callee) != 0) {
        if (memory != MAP_FAILED)
            ::munmap(memory, kNewStackBytes);
        Bounds before = std::exchange(current, Bounds{0, UINTPTR_MAX, true}); // all of it is to be used
        work(argument);
        current = before;
        return;
    }
    call.callee.uc_stack.ss_sp = memory;
    call.callee.uc_stack.ss_size = kNewStackBytes;
    call.callee.uc_link = &call.caller;
    ::makecontext(&call.callee, start, 0);
    Bounds before = std::exchange(current, Bounds::of(memory, kNewStackBytes));
    starting = &call;
    enter(call);
    current = before;
    ::munmap(memory, kNewStackBytes);
}

} // namespace flow
