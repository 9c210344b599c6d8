#pragma once
// Macros that say with which sanitizer a file is compiled. Code that switches stacks has to notify the sanitizer.
//
//     #if FLOW_ADDRESS_SANITIZER ... #elif FLOW_THREAD_SANITIZER ... #endif
//
// FLOW_NOT_INSTRUMENTED stands in front of functions that switch stacks. TSan keeps a list of the calls on each stack.
// A function that switches stacks must not be in such a list, because it begins on one stack and ends on another.

#if defined(__SANITIZE_ADDRESS__)
#define FLOW_ADDRESS_SANITIZER 1
#elif defined(__SANITIZE_THREAD__)
#define FLOW_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FLOW_ADDRESS_SANITIZER 1
#elif __has_feature(thread_sanitizer)
#define FLOW_THREAD_SANITIZER 1
#endif
#endif
#if FLOW_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#elif FLOW_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif
#if FLOW_THREAD_SANITIZER && defined(__clang__)
#define FLOW_NOT_INSTRUMENTED [[clang::disable_sanitizer_instrumentation]]
#else
#define FLOW_NOT_INSTRUMENTED
#endif
