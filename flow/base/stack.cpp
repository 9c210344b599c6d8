#include "flow/base/stack.h"

#include <cstddef>
#include <cstdint>
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define FLOW_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FLOW_ADDRESS_SANITIZER 1
#endif
#endif
#ifdef FLOW_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif

namespace flow {
namespace {

constexpr std::size_t kNewStackBytes = std::size_t{8} << 20;
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
};
constinit thread_local Call* starting = nullptr; // since makecontext() passes nothing but ints

/// AddressSanitizer must know on which stack it is, or takes what exceptions leave behind there for errors.
#ifdef FLOW_ADDRESS_SANITIZER
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
        return work(argument);
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
