#pragma once
// machineStack(): the calls on this thread's stack, as a command that prints them with their files and lines.
//
//     std::fprintf(stderr, "%s\n", machineStack().c_str());
//
//     addr2line -e /usr/bin/server -p -C -f -i 0x1a2b3f 0x1a2bf4
//
// The innermost call is first. Calls in other files than that of the innermost call, such as shared libraries, are left
// out. Unlike symbolName(), this reads no file. asyncStack() (flow/inspect/async_stack.h) shows the waits.

#include <cstddef>
#include <string>

namespace flow {

/// Returns the command for the caller and its callers; empty if the stack cannot be read. Throws std::bad_alloc.
std::string machineStack();

/// Like machineStack(), for the return addresses that ::backtrace() of <execinfo.h> gives.
std::string machineStack(void* const* returns, std::size_t count);

} // namespace flow
