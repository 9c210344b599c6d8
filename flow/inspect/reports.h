#pragma once
// Reports about programs that hang or fail, to standard error: the pending computations and their waits.
//
//     reportOnQuit();                 // from here on: kill -QUIT, or Ctrl-\ in a terminal
//
// Each RealLoop that is made after that, and the one that is current then, prints dumpPending() on its own thread when
// the process gets SIGQUIT, and runs on; a loop that sleeps wakes up for it. At most 64 loops do so. A loop with a step
// that does not end prints nothing: see flow/wait/long_steps.h. With MILLRACE_REPORT_ON_QUIT=1 in the environment the
// program need not call anything.
//
// A failed assertion on a thread that has a loop prints asyncStack() and dumpPending(), also without that call. So does
// an Error that ends the program because nothing catches it, for example loop_drained.

namespace flow {

/// Replaces the handler of SIGQUIT. May be called several times.
void reportOnQuit();

} // namespace flow
