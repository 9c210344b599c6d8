#pragma once
// Refuses compiler options with which flow would not do what its headers say. Every other header includes this one.

#ifndef __cpp_exceptions
#error "flow needs exceptions: compile this file without -fno-exceptions"
#endif
#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#error "flow needs infinity, as in delay(infinity): add -fno-finite-math-only behind -ffast-math"
#endif
