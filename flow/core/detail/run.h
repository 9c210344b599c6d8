#pragma once
// run() and FLOW_HAND_OVER: the two ways in which control passes to a Waiter.
//
//     run(waiter);               // a call: comes back when the waiter suspends or ends
//     FLOW_HAND_OVER(waiter);    // the last act of a void function: control does not come back here
//
// FLOW_HAND_OVER keeps the stack constant along a chain of completions. Where the compiler makes tail calls it is a
// jump. Elsewhere the waiter is left in a thread-local that `run` empties. Each translation unit decides for itself, so
// that code with and without tail calls can be mixed.

#include "flow/base/inline.h"
#include "flow/base/tail_call.h"
#include "flow/core/frame.h"

namespace flow::detail {

/// The waiter that run() runs next. A function that cannot make a tail call sets it, and then returns at once.
inline constinit thread_local Waiter* handedOver = nullptr;
/// Runs the waiter in `handedOver`, and each one that is left there meanwhile.
FLOW_RARE void runHandedOver() noexcept;

// Runtime and program must agree on the compiler (see FLOW_RARE) and on the size of a cell. Where they do not, the
// linker does not find this name.
#define FLOW_PASTE(a, b, c, d) a##b##c##d
#define FLOW_SETTINGS_OF(compiler, checked) FLOW_PASTE(compiledBy, compiler, AndChecked, checked)
#define FLOW_SETTINGS FLOW_SETTINGS_OF(FLOW_COMPILER, FLOW_CHECKED)
extern const char FLOW_SETTINGS;
[[gnu::used]] inline const char* const settings = &FLOW_SETTINGS;

/// Returns the waiter as a pointer that the optimizer cannot trace. Every call through `resume` or `destroy` goes
/// through opaque(). LLVM gives the parts of a coroutine a calling convention of its own, which for one pointer is the
/// same machine code as that of a plain function. So a call through an unknown pointer works. But if the optimizer can
/// see which function the pointer names, it takes the difference for undefined behaviour and deletes the call.
inline Waiter* opaque(Waiter* waiter) {
    asm("" : "+r"(waiter));
    return waiter;
}

/// Stores the code address of the actor that runs from here on, for messages of checked builds.
inline void noteRunning([[maybe_unused]] Waiter* waiter) {
#if FLOW_CHECKED
    runningActor = reinterpret_cast<const void*>(waiter->resume);
#endif
}

/// Resumes a waiter that is in no list. Then resumes the waiter in `handedOver`, and so on until none is left there.
inline void run(Waiter* waiter) noexcept {
#if FLOW_CHECKED
    const void* before = runningActor;
#endif
    noteRunning(waiter);
    waiter = opaque(waiter);
    waiter->resume(waiter);
    if (handedOver) [[unlikely]]
        runHandedOver();
#if FLOW_CHECKED
    runningActor = before;
#endif
}

} // namespace flow::detail

#define FLOW_HAND_OVER(waiter)                                                                                         \
    do {                                                                                                               \
        ::flow::detail::Waiter* next_ = ::flow::detail::opaque(waiter);                                                \
        if (::flow::detail::kTailCalls) {                                                                              \
            ::flow::detail::noteRunning(next_);                                                                        \
            FLOW_MUSTTAIL return next_->resume(next_);                                                                 \
        }                                                                                                              \
        ::flow::detail::handedOver = next_;                                                                            \
        return;                                                                                                        \
    } while (0)
