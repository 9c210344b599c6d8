#pragma once
// Refuses compilers that cannot compile flow, and options with which flow would not do what its headers say. Nearly all
// other headers include this one, most of them through flow/base/inline.h or flow/base/assert.h.

// After a fatal error the compiler stops, and does not print hundreds of errors that follow from the first one. An
// #error is not fatal, so an #include of a header that does not exist follows it. A #pragma makes the #warnings fatal.
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
