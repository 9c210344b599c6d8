#pragma once
// asyncStack: the chain of awaiters from the running code to the root, through actors, coroutines, fibers and
// operations.
//
//     std::fputs(asyncStack().c_str(), stderr);
//
//     actor readPage at page.actor.cpp:31 runs
//       awaited by coroutine serve
//       awaited by actor acceptAll at server.actor.cpp:12
//
// The line of a running actor is that of the wait from which it resumed. Several computations run if one has called
// another, which has not reached its first wait: in checked builds the innermost is first. If several wait for one, all
// are in the chain. asyncStack() reads all live blocks, as dumpPending() does: use it for messages, not on fast paths.

#include <string>

namespace flow {

/// One line for each computation; empty if no computation runs. Throws std::bad_alloc.
std::string asyncStack();

} // namespace flow
