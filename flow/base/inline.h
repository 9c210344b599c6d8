#pragma once
#include "flow/base/compiler_options.h"

// FLOW_INLINE: a function that must become part of its caller, at every optimisation level. For the few steps between
// a co_await and the queue in which the coroutine parks, where a call would cost time and bytes in the frame.

#define FLOW_INLINE [[gnu::always_inline]] inline

// FLOW_RARE: a function that is rarely called, from where much is inlined. It keeps all registers itself, so that those
// who might call it need not save any on their usual way. It must not throw: what is caught finds other registers in
// the state of the throw. Clang only; what such a function is called differs, so that objects of a compiler that does
// not know of it are not linked with it (FLOW_SETTINGS says so too). Hidden, since glibc keeps fewer registers when it
// looks up a function of a shared object at its first call (https://github.com/llvm/llvm-project/issues/105588): each
// shared object has its own.
#if defined(__clang__) && defined(__x86_64__)
#define FLOW_RARE __attribute__((preserve_most, abi_tag("rare"), visibility("hidden")))
#else
#define FLOW_RARE
#endif
