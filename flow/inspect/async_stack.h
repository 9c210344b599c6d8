#pragma once
// asyncStack: the chain of awaiters from the running code to the root, through all kinds of computations.
//
//     std::fputs(asyncStack().c_str(), stderr);
//
//     actor readPage at page.actor.cpp:31 runs
//       awaited by coroutine serve
//       awaited by actor acceptAll at server.actor.cpp:12
//
// The line of a running actor is the line of the wait from which it resumed. If a computation calls another one, both
// run until the called one reaches its first wait; in checked builds, the called one is printed first. If several
// computations await the same one, all are printed. asyncStack() reads all live blocks: use it only for messages.

#include <string>

namespace flow {

/// Returns one line for each computation; empty if no computation runs. Throws std::bad_alloc.
std::string asyncStack();

} // namespace flow
