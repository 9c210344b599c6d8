#pragma once
// Reports about programs that hang or fail, to standard error: the pending computations and their waits.
//
//     reportOnQuit();                 // from here on: kill -QUIT, or Ctrl-\ in a terminal
//
// When the process gets SIGQUIT, each RealLoop prints dumpPending() on its own thread and runs on; a loop that sleeps
// wakes up to print. This holds for the current loop at the call of reportOnQuit(), and for all loops that are made
// later; at most for 64 loops. A loop with a step that does not end prints nothing: see flow/wait/long_steps.h. With
// MILLRACE_REPORT_ON_QUIT=1 in the environment, the program need not call reportOnQuit().
//
// A failed assertion on a thread that has a loop prints asyncStack() and dumpPending(), also without reportOnQuit(). An
// Error that nothing catches on such a thread, for example loop_drained, prints both before the program ends.

namespace flow {

/// Replaces the handler of SIGQUIT. May be called several times.
void reportOnQuit();

} // namespace flow
