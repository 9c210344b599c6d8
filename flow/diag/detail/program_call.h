#pragma once
// ProgramCall: the program's function that called into the library, for the message of a failed assertion.
//
//     ProgramCall call = findProgramCall(true);
//     std::fprintf(stderr, "called by %s at %s\n", call.function.c_str(), call.place.c_str());
//
// A function outside of `flow` and `std` is a function of the program, even if the compiler has inlined it into a
// function of these namespaces, as with actors. addr2line reads the line from the debug information. With clang,
// llvm-addr2line is used if it is installed: GNU addr2line misses functions that clang inlines into a coroutine.

#include <string>
#include <string_view>

namespace flow {

struct ProgramCall {
    std::string function; // empty if none was found
    std::string place;    // "file:line" in this function; empty without debug information, or without addr2line.
                          // "file:first-last" for a coroutine in which gcc has not recorded the line
    std::string command;  // a command that prints the line, for a machine with the program and its debug information
};

/// Finds the innermost function of the program on this thread's stack. If `wantsPlace`, runs addr2line, sometimes more
/// than once, each time for at most 10 seconds. Throws std::bad_alloc.
ProgramCall findProgramCall(bool wantsPlace);
/// Like findProgramCall(), for given return addresses, the innermost first.
ProgramCall findProgramCall(void* const* returns, int count, bool wantsPlace);

/// Returns true if `file`, a path from the compiler, is in the source tree or the installation of the library.
bool isOfLibrary(std::string_view file);

} // namespace flow
