#pragma once
// run() and FLOW_HAND_OVER: the two ways in which control passes to a Waiter.
//
//     run(waiter);               // a call: comes back when the waiter suspends or ends
//     FLOW_HAND_OVER(waiter);    // the last act of a void function: control does not come back here
//
// FLOW_HAND_OVER keeps the stack constant along a chain of completions. If the compiler makes tail calls, it is a jump.
// Otherwise it stores the waiter in the thread-local `handedOver`, and run() resumes the waiter from there. Each
// translation unit uses its own way: code with and code without tail calls work together.

#include "flow/base/inline.h"
#include "flow/base/tail_call.h"
#include "flow/core/frame.h"

namespace flow::detail {

/// The waiter that run() runs next. A function that cannot make a tail call sets it, and then returns at once.
inline constinit thread_local Waiter* handedOver = nullptr;
/// Runs the waiter in `handedOver`, and each waiter that is stored in `handedOver` meanwhile.
FLOW_RARE void runHandedOver() noexcept;

// Runtime and program must agree on the compiler (see FLOW_RARE) and on the size of a cell. If they do not agree, the
// linker does not find the symbol FLOW_SETTINGS: its name contains both settings.
#define FLOW_PASTE(a, b, c, d) a##b##c##d
#define FLOW_SETTINGS_OF(compiler, checked) FLOW_PASTE(compiledBy, compiler, AndChecked, checked)
#define FLOW_SETTINGS FLOW_SETTINGS_OF(FLOW_COMPILER, FLOW_CHECKED)
extern const char FLOW_SETTINGS;
[[gnu::used]] inline const char* const settings = &FLOW_SETTINGS;

/// Returns the waiter as a pointer that the optimizer cannot trace. Every call through `resume` or `destroy` goes
/// through opaque(). LLVM gives the parts of a coroutine a special calling convention. With one pointer argument, such
/// a call has the same machine code as a plain call, so a call through an unknown pointer works. But if the optimizer
/// sees which function is called, it regards the other convention as undefined behaviour and deletes the call.
inline Waiter* opaque(Waiter* waiter) {
    asm("" : "+r"(waiter));
    return waiter;
}

/// Stores the code address of the actor that runs from here on, for the messages of checked builds.
inline void noteRunning([[maybe_unused]] Waiter* waiter) {
#if FLOW_CHECKED
    runningActor = reinterpret_cast<const void*>(waiter->resume);
#endif
}

/// Resumes a waiter that is in no list. Then, as long as `handedOver` holds a waiter, resumes that waiter.
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
