#pragma once
// ASSERT_EQ and others of Flow, which compare as C++ does: ASSERT_EQ(0xFFFFFFFF, -1) holds. FLOW_ASSERT_EQ compares the
// values of integers. This file includes flow/test.h too, which does not redefine macros that exist.

#include "../base/assert_macros.h"

#include <functional>

// In a system header, compilers do not warn of another library's ASSERT_EQ.
#pragma GCC system_header

#ifndef ASSERT_EQ
#define ASSERT_EQ(a, b) FLOW_ASSERT_COMPARED(::std::equal_to<>(), ==, a, b)
#define ASSERT_NE(a, b) FLOW_ASSERT_COMPARED(::std::not_equal_to<>(), !=, a, b)
#define ASSERT_LT(a, b) FLOW_ASSERT_COMPARED(::std::less<>(), <, a, b)
#define ASSERT_LE(a, b) FLOW_ASSERT_COMPARED(::std::less_equal<>(), <=, a, b)
#define ASSERT_GT(a, b) FLOW_ASSERT_COMPARED(::std::greater<>(), >, a, b)
#define ASSERT_GE(a, b) FLOW_ASSERT_COMPARED(::std::greater_equal<>(), >=, a, b)
#endif

#include "../test.h"
