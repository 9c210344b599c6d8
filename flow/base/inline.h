#pragma once
// Macros that say how clang and gcc are to call a function. Their differences with coroutines are in
// flow/coro/abi_clang.h and abi_gcc.h. flow/base/tail_call.h says whether the last call of a function is a jump.

#include "flow/base/compiler_options.h"

// FLOW_INLINE: a function that must become part of its caller, at every optimisation level. For the few steps between
// a co_await and the queue in which the coroutine parks, where a call would cost time and bytes in the frame.

#define FLOW_INLINE [[gnu::always_inline]] inline

// FLOW_INLINE_CALL: one call that becomes part of its caller, if the compiler has an attribute for that.
//
// FLOW_REFUSED(message): a function that no program may call, with the compiler's message for a call. It stands beside
// the function that takes the right arguments, so that the error is at the call and not inside the library. It has a
// body, since gcc reports one without for an argument of a local type. (clang reports an unavailable template twice.)
//
// kClang: for code in which one way is faster with clang, and another with gcc 12.

#if defined(__clang__)
#define FLOW_COMPILER Clang
#define FLOW_REFUSED(message)                                                                                          \
    _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wgcc-compat\"")                              \
        __attribute__((diagnose_if(true, message, "error"))) _Pragma("clang diagnostic pop")
#if __clang_major__ < 17 // 16 crashes at it behind the error of compiler_options.h
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

// FLOW_RARE: a cold function with clang's `preserve_most` convention: the callee saves all registers, so that its hot
// callers spill none. It must be noexcept, since unwinding would restore the wrong registers. It changes the ABI; the
// abi_tag turns mixed compilers into an error of the linker (FLOW_SETTINGS says so too). Hidden, since glibc saves
// fewer registers when it looks up a function of a shared object at its first call
// (https://github.com/llvm/llvm-project/issues/105588): each shared object has its own.
#if defined(__clang__) && defined(__x86_64__)
#define FLOW_RARE __attribute__((preserve_most, abi_tag("rare"), visibility("hidden")))
#else
#define FLOW_RARE
#endif
