#pragma once
// Assertions: misuse of the runtime ends the program with a message that names the misuse and the actor.
//
//     FLOW_ASSERT(cell, "the Future is invalid: it was default-constructed or moved from");
//     FLOW_CHECK(owner == thisThread(), "...");      // only in checked builds: too costly for every call
//
// A function with many callers has a last parameter for the source location of the call, which its assertions name:
//
//     int get(Caller caller = Caller::current()) {
//         FLOW_ASSERT_AT(caller, isReady(), "get() before there is a value");
//
// FLOW_ASSERT is always on. FLOW_CHECK is compiled when FLOW_CHECKED is 1 (CMake: -DMILLRACE_CHECKED=ON). FLOW_CHECKED
// must have the same value in all translation units of a program, because checked builds store more in each future.
// These macros are for the library. The assertions for programs are in flow/base/assert_macros.h.

#include "flow/base/compiler_options.h"

#include <source_location>

#ifndef FLOW_CHECKED
#define FLOW_CHECKED 0
#endif

namespace flow {

/// A function that is called for every assertion that fails, after the message was printed and before the program ends
/// or the error is thrown. `actor` is the name of the running actor, or "". It may be called on any thread.
using AssertionHandler = void (*)(const char* message, const char* file, int line, const char* actor);
/// Installs a handler for all threads and returns the previous one. Null means no handler.
AssertionHandler setAssertionHandler(AssertionHandler handler) noexcept;

} // namespace flow

namespace flow::detail {

/// The place of a call. It is Caller() if the place is unknown.
using Caller = std::source_location;
/// Prints `message`, the place and the running actor (in checked builds) to standard error and aborts. The place is
/// `caller` if `caller` is known. An operator has no parameter for its caller, so addr2line looks for the place of the
/// call in the debug information. If addr2line does not find it, the message has `file` and `line`, in the library. The
/// compiler must not merge two calls of assertionFailed(), because their lines differ (gcc: see CMakeLists.txt).
#ifdef __clang__
[[clang::nomerge]]
#endif
[[noreturn]] void
assertionFailed(const char* condition, const char* message, const char* file, int line,
                Caller caller = Caller()) noexcept;

/// The code address of the actor that runs now on this thread, or null. It is set in checked builds only.
inline constinit thread_local const void* runningActor = nullptr;

} // namespace flow::detail

#define FLOW_ASSERT(condition, message)                                                                                \
    (__builtin_expect(static_cast<bool>(condition), true)                                                              \
         ? static_cast<void>(0)                                                                                        \
         : ::flow::detail::assertionFailed(#condition, message, __FILE__, __LINE__))

#define FLOW_ASSERT_AT(caller, condition, message)                                                                     \
    (__builtin_expect(static_cast<bool>(condition), true)                                                              \
         ? static_cast<void>(0)                                                                                        \
         : ::flow::detail::assertionFailed(#condition, message, __FILE__, __LINE__, caller))

#if FLOW_CHECKED
#define FLOW_CHECK(condition, message) FLOW_ASSERT(condition, message)
#else
#define FLOW_CHECK(condition, message) static_cast<void>(0)
#endif
