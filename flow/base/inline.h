#pragma once
// Macros that tell clang and gcc how to call a function. The differences of the two compilers with coroutines are in
// flow/coro/detail/abi_clang.h and abi_gcc.h. flow/base/tail_call.h says whether the last call of a function is a jump.

#include "flow/base/compiler_options.h"

// FLOW_INLINE: for a function that must become part of its caller, at every optimisation level. It is used for the few
// steps from a co_await to the queue in which the coroutine waits: a call would cost time, and bytes in the frame.

#define FLOW_INLINE [[gnu::always_inline]] inline

// FLOW_INLINE_CALL: stands in front of a call. clang then inlines the called function there. With gcc it has no effect.
//
// FLOW_REFUSED(message): for an overload that no program may call. The compiler prints `message` for such a call. The
// overload stands beside the function that takes the right arguments, so the error is at the call and not in the
// library. The overload has a body: without a body, gcc reports an error for an argument of a local type. (The clang
// attribute is not `unavailable`: clang would report an unavailable template twice.)
//
// kClang: true with clang. It is for code that has one fast form for clang and another fast form for gcc 12.

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

// FLOW_RARE: for a cold function. With clang's `preserve_most` convention the function itself saves all registers, so
// its hot callers need not save any. The function must be noexcept, because unwinding would restore the wrong
// registers. The convention changes the ABI. Because of the abi_tag, code of different compilers does not link into one
// program (FLOW_SETTINGS prevents this too). The function is hidden, so each shared object has its own copy. A call
// into another shared object would not be safe: at the first call glibc looks the function up, and saves fewer
// registers (https://github.com/llvm/llvm-project/issues/105588).
#if defined(__clang__) && defined(__x86_64__)
#define FLOW_RARE __attribute__((preserve_most, abi_tag("rare"), visibility("hidden")))
#else
#define FLOW_RARE
#endif
