#pragma once
// machineStack(): the calls on this thread's stack, as a command that prints them with their files and lines.
//
//     std::fprintf(stderr, "%s\n", machineStack().c_str());
//
//     addr2line -e /usr/bin/server -p -C -f -i 0x1a2b3f 0x1a2bf4
//
// The innermost call is first. Calls in another binary file than the innermost call, such as a shared library, are left
// out. machineStack() reads no file, so it is cheap compared with symbolName(). It shows the calls; asyncStack()
// (flow/inspect/async_stack.h) shows the waits.

#include <cstddef>
#include <string>

namespace flow {

/// Returns the command, which begins with the caller; empty if the stack cannot be read. Throws std::bad_alloc.
std::string machineStack();

/// Like machineStack(), for given return addresses, as ::backtrace() of <execinfo.h> gives them.
std::string machineStack(void* const* returns, std::size_t count);

} // namespace flow
