#pragma once
// runningSteps: what the loops of this process do at this moment, as another thread sees it. For a loop that a long
// step keeps busy, so that it answers nothing.
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
// step is named as in LongSteps. The stack is that of the loop's thread, from its frame pointers, and comes by a
// signal, SIGPROF: it is missing if the thread blocks this signal. The line is missing without debug information or
// addr2line.

#include "flow/trace/loop_metrics.h"

#include <functional>
#include <string>
#include <vector>

namespace flow {

/// One step of a loop, and the stack of its thread.
struct SampledStep {
    std::string loop; // the name of the loop
    RunningStep step;
    std::vector<void*> stack; // return addresses, the innermost first

    std::string actor() const;
    /// Returns the sentence and the stack, as above. Reads the symbols of the program, and runs addr2line, for at most
    /// 10 seconds.
    std::string text() const;
};

/// Samples the steps that run now and that isWanted() chooses. Of a LoopMetrics it may call what forEachShared()
/// allows. Waits at most 0.2 s for each stack. The calling thread's own step has no stack.
std::vector<SampledStep>
sampleRunningSteps(std::function<bool(LoopMetrics const&, RunningStep const&)> const& isWanted);

/// Returns the text of all running steps, or a sentence if no step runs.
std::string runningSteps();

} // namespace flow
