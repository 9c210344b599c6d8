#pragma once
// kTailCalls: true if the last call of a function is a jump in this translation unit: a chain of calls needs no stack.
//
//     if (kTailCalls)
//         FLOW_MUSTTAIL return next->resume(next);

#include "flow/base/compiler_options.h"

namespace flow::detail {

// clang can guarantee these jumps at each optimisation level. gcc makes them from -O2 on, but not with --coverage or
// -finstrument-functions, and no macro shows this. So from -O1 on, each translation unit tests for the jumps when the
// program starts. Before the test kTailCalls is false, which is always safe.
#if defined(__clang__)
inline constexpr bool kTailCalls = true;
#elif !defined(__OPTIMIZE__)
static constexpr bool kTailCalls = false;
#else
[[gnu::noipa]] static void const* frameOfCallee(void const*) {
    return __builtin_frame_address(0);
}
[[gnu::noipa]] static void const* frameOfLastCall(void const* unused) {
    return frameOfCallee(unused);
}
static bool const kTailCalls = frameOfCallee(nullptr) == frameOfLastCall(nullptr);
#endif

} // namespace flow::detail

#if defined(__clang__)
#define FLOW_MUSTTAIL [[clang::musttail]]
#else
#define FLOW_MUSTTAIL
#endif
