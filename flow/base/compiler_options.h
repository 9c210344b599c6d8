#pragma once
// Compile errors for compilers that cannot compile flow, and for options with which flow would not work. Nearly all
// other headers include this one, most of them through inline.h or assert.h.

// The errors are fatal: the compiler prints no follow-up errors. With clang, a #pragma makes each #warning fatal. With
// gcc, an #include of a missing header stops the compiler after the #error.
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic fatal "-W#warnings"
#if __clang_major__ < 17
#warning "flow needs clang 17 or newer, or gcc 12 or newer"
#elif __cplusplus < 202002L
#warning "flow needs C++20: compile with -std=c++20"
#endif
#pragma clang diagnostic pop
#elif !defined(__GNUC__) || __GNUC__ < 12
#error "flow needs gcc 12 or newer, or clang 17 or newer"
#include <gcc 12>
#elif __cplusplus < 202002L
#error "flow needs C++20: compile with -std=c++20"
#include <C++20>
#endif
#if !defined(__linux__) || !(defined(__x86_64__) || defined(__aarch64__))
#error "flow runs on Linux, on x86-64 and aarch64"
#include <Linux on x86-64 or aarch64>
#endif

#ifndef __cpp_exceptions
#error "flow needs exceptions: compile this file without -fno-exceptions"
#include <exceptions>
#endif
#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#error "flow needs infinity, as in delay(infinity): add -fno-finite-math-only behind -ffast-math"
#include <infinity>
#endif
