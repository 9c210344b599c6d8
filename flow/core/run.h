#pragma once
// How control passes to a Waiter.
//
//     run(waiter);               // a call: comes back when the waiter suspends or ends
//     FLOW_HAND_OVER(waiter);    // the last act of a void function: control does not come back here
//
// A hand-over keeps the stack constant along a chain of completions. Clang makes it a guaranteed tail call; gcc makes
// it one from -O2. Where that cannot be had (gcc below -O2), the waiter is left in a thread-local that `run` empties.

#include "flow/core/frame.h"

#include <utility>

#ifndef FLOW_TAIL_CALLS
#if defined(__clang__) || defined(__OPTIMIZE__)
#define FLOW_TAIL_CALLS 1
#else
#define FLOW_TAIL_CALLS 0
#endif
#endif

namespace flow {

#if !FLOW_TAIL_CALLS
inline constinit thread_local Waiter* handedOver = nullptr;
#endif

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
    waiter->resume(waiter);
#if !FLOW_TAIL_CALLS
    while (Waiter* next = std::exchange(handedOver, nullptr)) {
        noteRunning(next);
        next->resume(next);
    }
#endif
#if FLOW_CHECKED
    runningActor = before;
#endif
}

} // namespace flow

#if !FLOW_TAIL_CALLS
#define FLOW_HAND_OVER(waiter)                                                                                         \
    do {                                                                                                               \
        ::flow::handedOver = (waiter);                                                                                 \
        return;                                                                                                        \
    } while (0)
#elif defined(__clang__)
#define FLOW_HAND_OVER(waiter)                                                                                         \
    do {                                                                                                               \
        ::flow::noteRunning(waiter);                                                                                   \
        [[clang::musttail]] return (waiter)->resume(waiter);                                                           \
    } while (0)
#else
#define FLOW_HAND_OVER(waiter)                                                                                         \
    do {                                                                                                               \
        ::flow::noteRunning(waiter);                                                                                   \
        return (waiter)->resume(waiter);                                                                               \
    } while (0)
#endif
