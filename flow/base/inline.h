#pragma once
// Macros that control how clang and gcc call a function. For the compilers' differences with coroutines, see
// flow/coro/detail/abi_clang.h and abi_gcc.h; for tail calls, flow/base/tail_call.h.

#include "flow/base/compiler_options.h"

// FLOW_INLINE: for a function that must be inlined at every optimisation level. It is used on the path from a co_await
// to the queue in which the coroutine waits: a call there would cost time, and bytes in the frame.

#define FLOW_INLINE [[gnu::always_inline]] inline

// FLOW_INLINE_CALL: stands in front of a call. clang then inlines the called function there. With gcc it has no effect.
//
// FLOW_REFUSED(message): for an overload that no program may call. The compiler prints `message` for a call. The right
// overload stands beside it, so the error is at the call and not in the library. The refused overload has a body, or
// gcc would report an error for an argument of a local type. (clang would report an `unavailable` template twice.)
//
// kClang: true with clang. It is for code that has one fast form for clang and another fast form for gcc 12.

#if defined(__clang__)
#define FLOW_COMPILER Clang
#define FLOW_REFUSED(message)                                                                                          \
    _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wgcc-compat\"")                              \
        __attribute__((diagnose_if(true, message, "error"))) _Pragma("clang diagnostic pop")
#if __clang_major__ < 17 // clang 16 would crash after the error of compiler_options.h
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
// registers. The convention changes the ABI: the abi_tag makes a program of mixed compilers fail to link (FLOW_SETTINGS
// does this too). The function is hidden, so each shared object has its own copy: a first call into another shared
// object would go through glibc's symbol lookup, which saves fewer registers
// (https://github.com/llvm/llvm-project/issues/105588).
#if defined(__clang__) && defined(__x86_64__)
#define FLOW_RARE __attribute__((preserve_most, abi_tag("rare"), visibility("hidden")))
#else
#define FLOW_RARE
#endif
