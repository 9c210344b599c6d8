#pragma once
// Refuses compilers that cannot compile flow, and options with which flow would not do what its headers say. Every
// other header includes this one.

#if defined(__clang__)
#if __clang_major__ < 17 // 16 crashes while it compiles a state machine, also behind an #error: this stops it here
#pragma clang diagnostic fatal "-W#warnings"
#warning "flow needs clang 17 or newer, or gcc 12 or newer"
#endif
#elif !defined(__GNUC__) || __GNUC__ < 12
#error "flow needs gcc 12 or newer, or clang 17 or newer"
#endif
#if !defined(__linux__) || !(defined(__x86_64__) || defined(__aarch64__))
#error "flow runs on Linux, on x86-64 and aarch64"
#endif

#ifndef __cpp_exceptions
#error "flow needs exceptions: compile this file without -fno-exceptions"
#endif
#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#error "flow needs infinity, as in delay(infinity): add -fno-finite-math-only behind -ffast-math"
#endif
