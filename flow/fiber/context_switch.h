#pragma once
// Switches a thread between stacks: Boost.Context's jump, and the thread state that belongs to each stack.
//
//     void* there = make_fcontext(stackEnd, stackBytes, first);   // first() runs on that stack, and never returns
//     Arrival back = switchTo(there, argument);      // returns when another switch goes to this context
//
// The processor predicts where a call returns to. If a function is called on one stack and returns on another, this
// prediction is wrong: that would cost more than the switch. So no call stays open across a switch: a jump enters
// jump_fcontext(), and these functions are inlined.

#include "flow/base/inline.h"
#include "flow/base/sanitizer.h"
#include "flow/base/stack.h"

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <cxxabi.h>

namespace flow::fiber::detail {

/// The result of a switch: the context that switched here, and the pointer that it passed.
using Arrival = boost::context::detail::transfer_t;

/// Declares a function that contains a switch.
#if FLOW_ADDRESS_SANITIZER || FLOW_THREAD_SANITIZER
#define FLOW_SWITCHES FLOW_NOT_INSTRUMENTED [[gnu::noinline]] inline
#else
#define FLOW_SWITCHES FLOW_INLINE
#endif

/// Ends the program with a message, because a running fiber was resumed.
[[noreturn, gnu::cold]] void switchToNothing();

/// Switches to a context. On x86-64, pushes a return address, unknown to the compiler. This overwrites nothing:
/// compilers keep data below the stack pointer only in functions without calls. switchTo() has a call.
FLOW_INLINE Arrival switchTo(void* context, void* data) noexcept {
    if (!context) [[unlikely]]
        switchToNothing();
#if defined(__x86_64__)
    Arrival from;
    asm volatile("leaq 1f(%%rip), %%rax\n\t"
                 "pushq %%rax\n\t"
                 "jmp jump_fcontext@PLT\n"
                 "1:"
                 : "=a"(from.fctx), "=d"(from.data), "+D"(context), "+S"(data)
                 :
                 : "rcx", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
                   "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15",
#if defined(__AVX512F__)
                   "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26",
                   "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k1", "k2", "k3", "k4", "k5", "k6", "k7",
#endif
                   "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)", "cc", "memory");
    return from;
#else
    return boost::context::detail::jump_fcontext(context, data);
#endif
}

/// The data of the C++ runtime about a thread's exceptions in flight. The C++ ABI specifies this layout.
struct Exceptions {
    void* caught;
    unsigned uncaught;
};
inline constinit thread_local Exceptions* exceptionsIfKnown = nullptr;
[[gnu::cold]] Exceptions& findExceptions() noexcept;
FLOW_INLINE Exceptions& exceptionsOfThread() noexcept {
    Exceptions* known = exceptionsIfKnown;
    return known ? *known : findExceptions();
}

/// The part of a thread's state that belongs to one stack, and is switched with it.
struct ThreadState {
    void* caught = nullptr;
    unsigned uncaught = 0;
    int stackLevels = 0;

    FLOW_INLINE static ThreadState ofThread() noexcept {
        Exceptions const& exceptions = exceptionsOfThread();
        return {exceptions.caught, exceptions.uncaught, flow::detail::stackLevels};
    }
    bool operator==(ThreadState const&) const = default;
    /// Changes the thread's state from this one to `next`. Writes nothing if both are equal, which is nearly always so.
    FLOW_INLINE void replaceWith(ThreadState const& next) const noexcept {
        if (*this == next) [[likely]]
            return;
        exceptionsOfThread() = {next.caught, next.uncaught};
        flow::detail::stackLevels = next.stackLevels;
    }
};

// These functions are called before and after each switch. They notify the sanitizers of the next stack.

#if FLOW_ADDRESS_SANITIZER
FLOW_INLINE void beforeSwitch(void** fake, void const* stack, std::size_t bytes, void*) {
    __sanitizer_start_switch_fiber(fake, stack, bytes);
}
FLOW_INLINE void afterSwitch(void* fake, void const** stack, std::size_t* bytes) {
    __sanitizer_finish_switch_fiber(fake, stack, bytes);
}
#elif FLOW_THREAD_SANITIZER
FLOW_NOT_INSTRUMENTED FLOW_INLINE void beforeSwitch(void**, void const*, std::size_t, void* identity) {
    __tsan_switch_to_fiber(identity, 0);
}
FLOW_NOT_INSTRUMENTED FLOW_INLINE void afterSwitch(void*, void const**, std::size_t*) {}
#else
FLOW_INLINE void beforeSwitch(void**, void const*, std::size_t, void*) {}
FLOW_INLINE void afterSwitch(void*, void const**, std::size_t*) {}
#endif

} // namespace flow::fiber::detail
