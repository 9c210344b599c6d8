#pragma once
// The macros of tests without a prefix, which are also Flow's names: TEST_CASE, ASSERT, CODE_PROBE and the like.
//
//     TEST_CASE("/queue/keeps its order") {
//         ASSERT_EQ(queue.pop(), 1);             // throws internal_error
//         ASSERT_WE_THINK(size < 1000);          // checked builds throw, other builds only print
//         ASSERT_ABORT(lock.isHeld());           // ends the program: for destructors and noexcept functions
//     }
//
// The same macros with a prefix come with flow/flow.h: FLOW_TEST_CASE (flow/testing/unit_test.h), FLOW_ASSERT_TRUE for
// ASSERT, FLOW_ASSERT_EQ ... (flow/base/assert_macros.h), FLOW_CODE_PROBE (flow/trace/code_probe.h). If GoogleTest,
// Catch2 or doctest is included too, before or after this header, a name that both define has that library's meaning.

#include "flow/base/assert_macros.h"
#include "flow/testing/unit_test.h"
#include "flow/trace/code_probe.h"

// With this pragma compilers do not warn if another library's header, included later, redefines one of these macros.
#pragma GCC system_header

#ifndef TEST_CASE
#define TEST_CASE FLOW_TEST_CASE
#endif
#ifndef ASSERT
#define ASSERT FLOW_ASSERT_TRUE
#endif
#ifndef ASSERT_EQ
#define ASSERT_EQ FLOW_ASSERT_EQ
#endif
#ifndef ASSERT_NE
#define ASSERT_NE FLOW_ASSERT_NE
#endif
#ifndef ASSERT_LT
#define ASSERT_LT FLOW_ASSERT_LT
#endif
#ifndef ASSERT_LE
#define ASSERT_LE FLOW_ASSERT_LE
#endif
#ifndef ASSERT_GT
#define ASSERT_GT FLOW_ASSERT_GT
#endif
#ifndef ASSERT_GE
#define ASSERT_GE FLOW_ASSERT_GE
#endif
#ifndef ASSERT_NEAR
#define ASSERT_NEAR FLOW_ASSERT_NEAR
#endif

#define ACTOR_TEST_CASE FLOW_ACTOR_TEST_CASE
#define CODE_PROBE FLOW_CODE_PROBE
#define UNREACHABLE FLOW_UNREACHABLE
#define ASSERT_ABORT(condition) FLOW_ASSERT(condition, "a program's own assertion")
/// Does what ASSERT does. Some programs use this name for assertions that must stay when ASSERT is switched off.
#define UNSTOPPABLE_ASSERT FLOW_ASSERT_TRUE
#define ASSERT_WE_THINK FLOW_ASSERT_WE_THINK
