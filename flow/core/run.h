#pragma once
// How control passes to a Waiter.
//
//     run(waiter);               // a call: comes back when the waiter suspends or ends
//     FLOW_HAND_OVER(waiter);    // the last act of a void function: control does not come back here
//
// A hand-over keeps the stack constant along a chain of completions. Clang makes it a guaranteed tail call; gcc makes
// it one from -O2. Where that cannot be had (gcc below -O2), or costs more (clang, see failAtOnce in
// flow/coro/awaiters.h), the waiter is left in a thread-local that `run` empties.

#include "flow/base/inline.h"
#include "flow/core/frame.h"

#ifndef FLOW_TAIL_CALLS
#if defined(__clang__) || defined(__OPTIMIZE__)
#define FLOW_TAIL_CALLS 1
#else
#define FLOW_TAIL_CALLS 0
#endif
#endif

namespace flow::detail {

#if defined(__clang__) || !FLOW_TAIL_CALLS
#define FLOW_HANDED_OVER 1
/// Left by whoever cannot hand over, who gives control back at once.
inline constinit thread_local Waiter* handedOver = nullptr;
/// What `run` goes on with.
FLOW_RARE void runHandedOver() noexcept;
#else
#define FLOW_HANDED_OVER 0
#endif

// Runtime and program must agree on the compiler (see FLOW_RARE), on how control is handed over and on the size of a
// cell. Where they do not, this name is what the linker misses.
#define FLOW_PASTE(a, b, c, d) a##b##c##d
#if defined(__clang__)
#define FLOW_SETTINGS_OF(tailCalls, checked) FLOW_PASTE(compiledByClangWithTailCalls, tailCalls, AndChecked, checked)
#else
#define FLOW_SETTINGS_OF(tailCalls, checked) FLOW_PASTE(compiledByGccWithTailCalls, tailCalls, AndChecked, checked)
#endif
#define FLOW_SETTINGS FLOW_SETTINGS_OF(FLOW_TAIL_CALLS, FLOW_CHECKED)
extern const char FLOW_SETTINGS;
[[gnu::used]] inline const char* const settings = &FLOW_SETTINGS;

/// The same waiter, of which the optimizer knows nothing. Every call through `resume` or `destroy` goes through this:
/// LLVM gives the parts of a coroutine its own calling convention, which for one pointer is the same machine code as
/// that of a plain function. Called through a pointer that is all there is to it; but where the optimizer finds out
/// which function the pointer names, it takes the difference for undefined behaviour and deletes the call.
inline Waiter* opaque(Waiter* waiter) {
    asm("" : "+r"(waiter));
    return waiter;
}

/// Marks the code address of the actor that runs from here on; for messages of checked builds.
inline void noteRunning([[maybe_unused]] Waiter* waiter) {
#if FLOW_CHECKED
    runningActor = reinterpret_cast<const void*>(waiter->resume);
#endif
}

/// Resumes a waiter that has been taken out of every list, and all to whom it hands over.
inline void run(Waiter* waiter) noexcept {
#if FLOW_CHECKED
    const void* before = runningActor;
#endif
    noteRunning(waiter);
    waiter = opaque(waiter);
    waiter->resume(waiter);
#if FLOW_HANDED_OVER
    if (handedOver) [[unlikely]]
        runHandedOver();
#endif
#if FLOW_CHECKED
    runningActor = before;
#endif
}

} // namespace flow::detail

#if !FLOW_TAIL_CALLS
#define FLOW_HAND_OVER(waiter)                                                                                         \
    do {                                                                                                               \
        ::flow::detail::handedOver = (waiter);                                                                         \
        return;                                                                                                        \
    } while (0)
#else
#if defined(__clang__)
#define FLOW_MUSTTAIL [[clang::musttail]]
#else
#define FLOW_MUSTTAIL
#endif
#define FLOW_HAND_OVER(waiter)                                                                                         \
    do {                                                                                                               \
        ::flow::detail::noteRunning(waiter);                                                                           \
        ::flow::detail::Waiter* next_ = ::flow::detail::opaque(waiter);                                                \
        FLOW_MUSTTAIL return next_->resume(next_);                                                                     \
    } while (0)
#endif
