#pragma once
// Macros that say how clang and gcc are to call a function. Their differences with coroutines are in
// flow/coro/detail/abi_clang.h and abi_gcc.h. flow/base/tail_call.h says whether the last call of a function is a jump.

#include "flow/base/compiler_options.h"

// FLOW_INLINE: a function that must become part of its caller, at every optimisation level. For the few steps between
// a co_await and the queue in which the coroutine parks, where a call would cost time and bytes in the frame.

#define FLOW_INLINE [[gnu::always_inline]] inline

// FLOW_INLINE_CALL: in front of one call; makes it part of its caller, if the compiler has an attribute for that.
//
// FLOW_REFUSED(message): for an overload that no program may call; the compiler prints `message` for a call of it. The
// overload stands beside the function that takes the right arguments, so that the error is at the call and not inside
// the library. The overload has a body: without one, gcc reports an error for an argument of a local type. (clang would
// report an unavailable template twice.)
//
// kClang: for code in which one way is faster with clang, and another with gcc 12.

#if defined(__clang__)
#define FLOW_COMPILER Clang
#define FLOW_REFUSED(message)                                                                                          \
    _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wgcc-compat\"")                              \
        __attribute__((diagnose_if(true, message, "error"))) _Pragma("clang diagnostic pop")
#if __clang_major__ < 17 // after the error of compiler_options.h clang 16 would crash
#define FLOW_INLINE_CALL
#else
#define FLOW_INLINE_CALL [[clang::always_inline]]
#endif
namespace flow::detail {
inline constexpr bool kClang = true;
}
#else
#define FLOW_COMPILER Gcc
#define FLOW_REFUSED(message) __attribute__((unavailable(message)))
#define FLOW_INLINE_CALL
namespace flow::detail {
inline constexpr bool kClang = false;
}
#endif

// FLOW_RARE: for a cold function. With clang's `preserve_most` convention the callee saves all registers, so that its
// hot callers need not save any. The function must be noexcept, since unwinding would restore the wrong registers. The
// convention changes the ABI. Because of the abi_tag, a program made by different compilers does not link
// (FLOW_SETTINGS prevents it too). The function is hidden, so that each shared object has its own: glibc saves fewer
// registers when it looks up a function of another shared object at its first call
// (https://github.com/llvm/llvm-project/issues/105588).
#if defined(__clang__) && defined(__x86_64__)
#define FLOW_RARE __attribute__((preserve_most, abi_tag("rare"), visibility("hidden")))
#else
#define FLOW_RARE
#endif
