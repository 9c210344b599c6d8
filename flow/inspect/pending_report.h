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
// A computation stands below the one that waits for it. Its line has its kind and name, and the line of its wait.
// Operations have no line. If an actor has several computations, a number tells them apart (`lead#4672`): it is the
// place of the actor's memory, so it stays the same in later reports, and with the same seed. If a parent does not wait
// for a fork, the fork is shown as "child of" the parent. "Refers" means that the frame contains an object that can set
// the promise, send into the stream or release the Semaphore: a conclusion from addresses and reference counts. The
// holder of a lock has the Mutex::Lock or Semaphore::Permit in its frame, on its stack or in an object to which one of
// them points. An operation describes itself by describe() (flow/core/description.h).
//
// Nothing is recorded while the program runs: the dump reads the live blocks of the allocator, and changes nothing.
// Call dumpPending() on the loop's thread, in a step or outside of run(). A million computations take about a second.
// If there are more than `limit` computations, the dump also counts all of them by name, line and kind of wait.
//
// With one exception, computations of other threads are shown only with `allLoops`. If another thread frees a block of
// this thread, and reuses it for a computation, the dump shows this computation, and reads it while it may change.
// Checked builds do not show it.

#include "flow/base/seconds.h"
#include <cstddef>
#include <string>

namespace flow {

class CellGroup;

enum class PendingFormat { Text, Json, Graphviz };

struct PendingOptions {
    PendingFormat format = PendingFormat::Text;
    /// The largest number of computations that are shown one by one.
    std::size_t limit = 1000;
    /// If true, each RealLoop of the process reports its computations on its own thread. The calling thread needs no
    /// loop, and blocks meanwhile. A loop that runs a step for more than `patience` seconds has no answer.
    bool allLoops = false;
    Seconds patience = 1;
};

/// Appends the dump to `out`. Throws std::bad_alloc.
void dumpPending(std::string& out, PendingOptions const& options = {});
/// Appends the dump of a group of cells, such as those of a simulated process.
void dumpPending(std::string& out, CellGroup const& cells, PendingOptions const& options = {});

/// Returns only the lines of the cycles.
std::string waitCycles(CellGroup const& cells);

} // namespace flow
