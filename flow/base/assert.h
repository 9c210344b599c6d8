#pragma once
// Assertions: misuse of the runtime ends the program with a message that names the misuse and the actor.
//
//     FLOW_ASSERT(cell, "the Future is invalid: it was default-constructed or moved from");
//     FLOW_CHECK(owner == thisThread(), "...");      // only in checked builds: too costly for every call
//
// To report its caller's line in a failed assertion, a function takes the source location as its last parameter:
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

/// The function to call for each failed assertion, after the message was printed and before the program ends or the
/// error is thrown. `actor` is the name of the running actor, or "". Any thread may call the handler.
using AssertionHandler = void (*)(const char* message, const char* file, int line, const char* actor);
/// Installs a handler for all threads and returns the previous one. Null means no handler.
AssertionHandler setAssertionHandler(AssertionHandler handler) noexcept;

} // namespace flow

namespace flow::detail {

/// The source location of a call. Caller() means unknown.
using Caller = std::source_location;
/// Prints `message`, the place and the running actor (in checked builds) to standard error and aborts. The place is
/// `caller` if it is known: operators cannot have a parameter for it. Otherwise addr2line searches the debug
/// information for the call. If the search fails, the place is `file` and `line`, in the library. nomerge: the compiler
/// must not merge two calls, because their lines differ (gcc: see CMakeLists.txt).
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
