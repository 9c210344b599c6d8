// stackIsShort() compares the address of its frame with the bounds of stacks, in this order: the usable part of the
// stack that it found last, the new stacks in use (`active`), the thread's own stack. The bounds of any other stack,
// such as a fiber's, are unknown: on such a stack withRoom() counts its levels.
//
// callOnNewStack() takes the spare stack of the thread, or maps a new stack, and calls the work on it. Afterwards this
// stack becomes the spare stack, unless the thread has one already. Several new stacks may be in use at a time: work on
// one stack may need another stack, and a fiber may switch away in the middle of a call.
//
// callOn() switches stacks, in assembly. enter(), on the old stack, and start(), on the new one, notify ASan or TSan.

#include "flow/base/stack.h"

#include "flow/base/assert.h"
#include "flow/base/sanitizer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <pthread.h>
#include <sys/mman.h>
#include <utility>

namespace flow {
namespace {

#if FLOW_THREAD_SANITIZER
constexpr std::size_t kNewStackBytes = std::size_t{2} << 20; // TSan keeps no more than 65,536 calls of each stack
#else
constexpr std::size_t kNewStackBytes = std::size_t{8} << 20;
#endif
constexpr std::size_t kGuardBytes = 64 << 10; // at the lower end of a stack: an overflow faults there

struct Bounds {
    std::uintptr_t begin = 0;
    std::size_t bytes = 0;

    bool contain(std::uintptr_t place) const { return place - begin < bytes; }
    /// Returns the bounds without the reserve at the lower end.
    Bounds room() const {
        constexpr std::size_t kLeast = 32 << 10, kMost = 1 << 20;
        std::size_t kept = std::min(std::clamp(bytes / 4, kLeast, kMost), bytes);
        return {begin + kept, bytes - kept};
    }
};

/// A mapped stack. This object is at the upper end of the memory that it describes.
struct alignas(64) NewStack {
    char* memory;
    NewStack* outer;

    Bounds bounds() const {
        return {reinterpret_cast<std::uintptr_t>(memory) + kGuardBytes, kNewStackBytes - kGuardBytes};
    }
};

struct OwnStack {
    Bounds bounds;
    bool isKnown = false;
};
constinit thread_local OwnStack own;
constinit thread_local Bounds lastRoom;            // the room of the stack on which stackIsShort() was called last
constinit thread_local NewStack* active = nullptr; // stacks in use; fibers may end the calls on them in any order
constinit thread_local NewStack* spare = nullptr;
constinit thread_local bool keepsNone = false; // true when the thread is ending

/// Returns the bounds of the thread's own stack; empty bounds if the system does not give them.
Bounds boundsOfThread() noexcept {
    pthread_attr_t attributes;
    // nondeterminism: the address only decides when a new stack is needed
    if (::pthread_getattr_np(::pthread_self(), &attributes) != 0)
        return {};
    void* lowest = nullptr;
    std::size_t bytes = 0;
    ::pthread_attr_getstack(&attributes, &lowest, &bytes);
    ::pthread_attr_destroy(&attributes);
    return {reinterpret_cast<std::uintptr_t>(lowest), bytes};
}

void unmap(NewStack* stack) noexcept {
    ::munmap(stack->memory, kNewStackBytes);
}

struct ThreadEnd {
    ThreadEnd() = default;
    ThreadEnd(ThreadEnd const&) = delete;
    ThreadEnd& operator=(ThreadEnd const&) = delete;
    ~ThreadEnd() {
        keepsNone = true;
        if (NewStack* stack = std::exchange(spare, nullptr))
            unmap(stack);
    }
};

NewStack* takeStack() noexcept {
    if (NewStack* stack = std::exchange(spare, nullptr))
        return stack;
    void* memory = ::mmap(nullptr, kNewStackBytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    FLOW_ASSERT(memory != MAP_FAILED && ::mprotect(memory, kGuardBytes, PROT_NONE) == 0,
                "there is no memory for the stack on which a deep nesting of cancels and destructors would go on");
    char* lowest = static_cast<char*>(memory);
    return ::new (lowest + kNewStackBytes - sizeof(NewStack)) NewStack{lowest, nullptr};
}

void giveBack(NewStack* stack) noexcept {
    if (spare || keepsNone)
        return unmap(stack);
    static thread_local ThreadEnd end;
    (void)&end;
    spare = stack;
}

/// Calls work(argument) on the stack that ends at `top`, with a frame pointer for debuggers and unwinders to follow.
FLOW_NOT_INSTRUMENTED [[gnu::noinline]] void callOn(void* top, void (*work)(void*), void* argument) noexcept {
    [[maybe_unused]] void* volatile frame = __builtin_frame_address(0);
#if defined(__x86_64__)
    asm volatile("movq %%rsp, %%r12\n\t"
                 "movq %[top], %%rsp\n\t"
                 "callq *%[work]\n\t"
                 "movq %%r12, %%rsp"
                 : "+D"(argument), [top] "+r"(top), [work] "+r"(work)
                 :
                 : "r12", "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4",
                   "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "cc",
                   "memory");
#elif defined(__aarch64__)
    register void* first asm("x0") = argument;
    asm volatile("mov x19, sp\n\t"
                 "mov sp, %[top]\n\t"
                 "blr %[work]\n\t"
                 "mov sp, x19"
                 : "+r"(first), [top] "+r"(top), [work] "+r"(work)
                 :
                 : "x19", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14",
                   "x15", "x16", "x17", "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18",
                   "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31", "cc",
                   "memory");
#else
#error "flow runs on x86-64 and aarch64: say here how this processor calls a function on another stack"
#endif
}

struct Call {
    void (*work)(void*);
    void* argument;
    void* fiber = nullptr; // TSan's handle of the caller's stack
};

#if FLOW_ADDRESS_SANITIZER
// ASan must know the current stack. Otherwise it reports remains of exceptions on that stack as errors.
void start(void* argument) noexcept {
    auto* call = static_cast<Call*>(argument);
    const void* lowest = nullptr;
    std::size_t bytes = 0;
    __sanitizer_finish_switch_fiber(nullptr, &lowest, &bytes);
    call->work(call->argument);
    __sanitizer_start_switch_fiber(nullptr, lowest, bytes);
}
void enter(NewStack* stack, Call& call) noexcept {
    void* fake = nullptr;
    Bounds bounds = stack->bounds();
    __sanitizer_start_switch_fiber(&fake, reinterpret_cast<void*>(bounds.begin), bounds.bytes);
    callOn(stack, start, &call);
    __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
}
#elif FLOW_THREAD_SANITIZER
FLOW_NOT_INSTRUMENTED void start(void* argument) noexcept {
    auto* call = static_cast<Call*>(argument);
    call->work(call->argument);
    __tsan_switch_to_fiber(call->fiber, 0);
}
FLOW_NOT_INSTRUMENTED void enter(NewStack* stack, Call& call) noexcept {
    void* fiber = __tsan_create_fiber(0);
    call.fiber = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(fiber, 0);
    callOn(stack, start, &call);
    __tsan_destroy_fiber(fiber);
}
#else
void enter(NewStack* stack, Call& call) noexcept {
    callOn(stack, call.work, call.argument);
}
#endif

} // namespace

bool stackIsShort() noexcept {
    auto place = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    if (lastRoom.contain(place))
        return false;
    auto isOutside = [place](Bounds bounds) {
        lastRoom = bounds.room();
        return !lastRoom.contain(place);
    };
    for (NewStack* stack = active; stack; stack = stack->outer)
        if (Bounds bounds = stack->bounds(); bounds.contain(place))
            return isOutside(bounds);
    if (!own.isKnown)
        own = {boundsOfThread(), true};
    if (own.bounds.contain(place))
        return isOutside(own.bounds);
    constexpr int kLevelsAllowed = 32; // on a stack with unknown bounds
    return detail::stackLevels >= kLevelsAllowed;
}

void detail::callWithRoom(void (*work)(void*), void* argument) noexcept {
    bool isShort = stackIsShort();
    ++stackLevels;
    isShort ? callOnNewStack(work, argument) : work(argument);
    --stackLevels;
}

void detail::callOnNewStack(void (*work)(void*), void* argument) noexcept {
    NewStack* stack = takeStack();
    stack->outer = active;
    active = stack;
    lastRoom = {}; // the next stackIsShort() must search for its stack
    Call call{work, argument};
    enter(stack, call);
    NewStack** link = &active;
    while (*link != stack)
        link = &(*link)->outer;
    *link = stack->outer;
    lastRoom = {};
    giveBack(stack);
}

} // namespace flow
