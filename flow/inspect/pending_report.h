#pragma once
// dumpPending: all pending computations of this thread's loop, as trees of their waits.
//
//     std::string text;
//     dumpPending(text);
//     std::fputs(text.c_str(), stderr);
//
//     3 computations are pending
//     actor lead at lead.actor.cpp:14 waits for one of: coroutine replicate, a delay until 3.5 (2.5 s from now)
//       coroutine replicate waits for a promise, to which actor server refers
//     actor server at server.actor.cpp:30 waits for 2 permits of a Semaphore, held by actor writer
//     cycle: actor writer waits for actor reader, which waits for actor writer
//
// A computation stands below the one that waits for it. Its line shows if it is an actor, coroutine, task, fiber or
// operation, and its name. The line of its wait is shown for fibers, for actors that were compiled to state machines,
// and in checked builds for coroutines and tasks. If a parent does not wait for a fork, the fork is shown as "child of"
// the parent. "Refers" means that the frame contains an object that can set the promise, send into the stream or
// release the Semaphore. The report concludes this from the addresses in frames and from reference counts. The
// holder of a lock is the computation with the Mutex::Lock or Semaphore::Permit in its frame, on its stack or in an
// object to which the frame or stack points. An operation describes itself by describe() (flow/core/description.h).
//
// Nothing is recorded while the program runs. The dump reads the live blocks of the allocator, and changes nothing.
// Call dumpPending() on the loop's thread, in a step or outside of run(). A million computations take about a second.
// If there are more than `limit` computations, the dump also counts all of them by name, line and kind of wait.
//
// Computations of other threads are shown only with `allLoops`, with one exception. If a program frees a block on
// another thread than the one that allocated it, that other thread may use the block for a computation. This
// computation is then shown here, and is read while it may change. In checked builds it is not shown.

#include "flow/base/seconds.h"
#include <cstddef>
#include <string>

namespace flow {

class CellGroup;

enum class PendingFormat { Text, Json, Graphviz };

struct PendingOptions {
    PendingFormat format = PendingFormat::Text;
    /// The number of computations that are shown one by one.
    std::size_t limit = 1000;
    /// If true, shows the computations of every RealLoop of the process. Each loop's thread reports its own
    /// computations. If a step runs longer than `patience` seconds, its loop is shown without an answer. The calling
    /// thread is blocked meanwhile. The calling thread needs no loop.
    bool allLoops = false;
    Seconds patience = 1;
};

/// Appends the dump to `out`. Throws std::bad_alloc.
void dumpPending(std::string& out, PendingOptions const& options = {});
/// Appends the dump of the cells of a group, such as a simulated process.
void dumpPending(std::string& out, CellGroup const& cells, PendingOptions const& options = {});

/// Returns only the cycles: a line for each set of computations that wait for each other, as dumpPending() prints it.
std::string waitCycles(CellGroup const& cells);

} // namespace flow
