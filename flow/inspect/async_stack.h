#pragma once
// asyncStack: the chain of awaiters from what runs now to the root, through actors, coroutines, fibers and operations.
//
//     std::fputs(asyncStack().c_str(), stderr);
//
//     actor readPage at page.actor.cpp:31 runs
//       awaited by coroutine serve
//       awaited by actor acceptAll at server.actor.cpp:12
//
// The line of a running actor is that of the wait from which it went on. Several run if one has called another, which
// has not reached its first wait: in checked builds the innermost is first. Where several wait for one, all are in the
// chain. It reads all live blocks, as dumpPending() does: for messages, not for fast paths.

#include <string>

namespace flow {

/// A line for each; empty where no computation runs. Throws std::bad_alloc.
std::string asyncStack();

} // namespace flow
