#pragma once
// runningSteps: shows the running steps of the process's loops, from any thread, even if a step does not end.
//
//     std::fputs(runningSteps().c_str(), stderr);                   // on any thread
//
//     the loop main has run a step of rebuildIndex for 3.2 s, now in sortRows at index.cpp:20
//       0 sortRows(std::vector<Row>&)
//       1 rebuildIndex
//       2 flow::LoopMachine::runTurn()
//       addr2line -e /usr/bin/server -p -C -f -i 0x1a2b3f 0x1a2bf4 0x1a3000
//
// It shows the loops with a shared LoopMetrics (flow/trace/loop_metrics.h): the console and the Watchdog make one. The
// step is named as in LongSteps. The stack of the loop's thread comes from its frame pointers, by the signal SIGPROF:
// the stack is missing if the thread blocks this signal. Libraries have no frame pointers: with glibc 2.35 or later,
// the unwinder finds the caller of a library such as libc. Without debug information or addr2line, the line is missing.

#include "flow/trace/loop_metrics.h"

#include <functional>
#include <string>
#include <vector>

#pragma push_macro("loop") // a keyword of actors, which programs of Flow leave defined
#undef loop

namespace flow {

/// One step of a loop, and the stack of its thread.
struct SampledStep {
    std::string loop; // the name of the loop
    RunningStep step;
    std::vector<void*> stack; // return addresses, the innermost first

    std::string actor() const;
    /// Returns the innermost function of the program on the stack; empty if none was found. Reads symbols.
    std::string function() const;
    /// Returns the sentence and the stack, as above. Reads symbols, and runs addr2line for at most 10 seconds.
    std::string text() const;
};

/// Samples the running steps for which isWanted() returns true. isWanted() may call only the functions of LoopMetrics
/// that forEachShared() allows. Waits at most 0.2 s for each stack. The calling thread's own step has no stack.
std::vector<SampledStep>
sampleRunningSteps(std::function<bool(LoopMetrics const&, RunningStep const&)> const& isWanted);

/// Returns the text of all running steps, or a sentence if no step runs.
std::string runningSteps();

} // namespace flow

#pragma pop_macro("loop")
