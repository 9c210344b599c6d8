#pragma once
// reportOnQuit(): prints reports about programs that hang or fail to standard error.
//
//     reportOnQuit();                 // from here on: kill -QUIT, or Ctrl-\ in a terminal
//
// When the process gets SIGQUIT, each RealLoop prints dumpPending() on its own thread and runs on, even if it was
// asleep. This holds for the current loop at the call of reportOnQuit(), and for later loops, at most 64. A loop with a
// step that does not end prints nothing (flow/wait/long_steps.h). MILLRACE_REPORT_ON_QUIT=1 calls reportOnQuit().
//
// If the process has made a RealLoop, failed assertions and uncaught exceptions print asyncStack() and dumpPending() of
// the loop of their thread in any case.

namespace flow {

/// Replaces the handler of SIGQUIT. May be called several times.
void reportOnQuit();

} // namespace flow
