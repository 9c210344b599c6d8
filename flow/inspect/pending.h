#pragma once
// dumpPending: all pending computations of this thread's loop as trees: what waits for what.
//
//     std::string text;
//     dumpPending(text);
//     std::fputs(text.c_str(), stderr);
//
//     3 computations are pending
//     actor lead at lead.actor.cpp:14 waits for one of: coroutine replicate, a delay until 3.5 (2.5 s from now)
//       coroutine replicate waits for a promise, to which actor server refers
//     actor server at server.actor.cpp:30 waits for 1 of 1 permits of a lock, held by actor writer
//     cycle: actor writer waits for actor reader, which waits for actor writer
//
// A computation stands below the one that waits for it. It is an actor, coroutine, fiber or operation, by its name; an
// actor that was compiled to a state machine has the line of its wait as well. "Refers" means that an end
// which can set the promise or send into the stream stands in the frame, as far as addresses in frames and the counts
// of the cell show. The holder of a lock is shown if its frame has a FlowLock::Releaser. An operation describes itself
// by describe() (flow/core/description.h).
//
// Nothing is recorded while the program runs. The dump reads the live blocks of the allocator, and changes nothing.
// Call it on the loop's thread, in a task or outside of run(). A million computations take about a second: beyond
// `limit` they are counted by name, line and kind of wait.
//
// Computations of other threads are not shown, with one exception: where a program frees blocks on another thread than
// the one that took them, that thread may use such a block for a computation, which is then shown here (in checked
// builds it is not). It is read while it may change.

#include <cstddef>
#include <string>

namespace flow {

class CellGroup;

enum class PendingFormat { Text, Json, Graphviz };

struct PendingOptions {
    PendingFormat format = PendingFormat::Text;
    /// How many computations are shown one by one.
    std::size_t limit = 1000;
};

/// Appends the dump. Throws std::bad_alloc.
void dumpPending(std::string& out, PendingOptions const& options = {});
/// The same for the cells of a group: of a simulated process.
void dumpPending(std::string& out, CellGroup const& cells, PendingOptions const& options = {});

/// Only the cycles: a line for each set of computations that wait for each other, as dumpPending() has them.
std::string waitCycles(CellGroup const& cells);

} // namespace flow
