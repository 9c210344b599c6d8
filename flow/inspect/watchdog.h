#pragma once
// Watchdog: a thread that reports a step of a loop that does not end.
//
//     Watchdog watch({.after = 5s, .aborts = false});        // in main(), after the loop; for as long as it exists
//     loop.run(serve());
//
//     flow: Watchdog: the loop main has run a step of rebuildIndex for 5.01 s, now in sortRows at index.cpp:20
//       0 sortRows(std::vector<Row>&)
//       ...
//
// LongSteps (flow/wait/long_steps.h) reports a long step when it has ended. A Watchdog reports a step once, when the
// step has run for `after`: it prints the text of runningSteps() (flow/inspect/running_steps.h) to standard error. It
// watches all loops of the process with a shared LoopMetrics (flow/trace/loop_metrics.h), and makes one for its own
// loop. When the step has ended, the loop's thread writes the event "StepRunsLong" (flow/trace/trace_event.h):
// "Seconds" is the time that the step took (or "SecondsAtLeast" is the time up to the report, if only that is known).
// "Function" and "Backtrace" say where the step was at the report.
//
// Only the loop makes steps. Code that main() runs before loop.run(), for example a coroutine up to its first wait if
// main() calls it, belongs to no step, and is not reported.
//
// A program that waits for SIGTERM by signals() (flow/wait/signals.h) cannot end while a step keeps its loop busy. So
// if a loop runs one step for `afterTermination` after SIGTERM has come, the Watchdog prints the report, and ends the
// process by SIGTERM. It does so only if signals() was called for SIGTERM.
//
// The loop has no cost besides that of LoopMetrics. A Watchdog belongs to the thread of its loop, and must end before
// the loop. One Watchdog is enough for a process. A simulated loop can have none: its time stands still during a step.

#include "flow/base/seconds.h"
#include "flow/trace/loop_metrics.h"

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <source_location>
#include <string>
#include <thread>

#pragma push_macro("loop") // a keyword of actors, which programs of Flow leave defined
#undef loop

namespace flow {

struct WatchdogOptions {
    Seconds after = 5;            // a step is reported after this time
    bool aborts = false;          // true: ends the process by abort() after the report
    Seconds afterTermination = 5; // the time from SIGTERM to the end of the process; 0: SIGTERM has no effect
    std::string loop = "main";    // the name of this loop, if its LoopMetrics has none yet
};

class Watchdog {
public:
    /// Throws invalid_option_value with the name of the option in its text, and std::system_error if no thread can be
    /// started. Must be called on a loop that is not simulated.
    explicit Watchdog(WatchdogOptions options = {}, std::source_location caller = std::source_location::current());
    Watchdog(Watchdog const&) = delete;
    Watchdog& operator=(Watchdog const&) = delete;
    ~Watchdog();

private:
    void run();

    WatchdogOptions const options_;
    std::uint64_t const terminations_; // the number of SIGTERMs before the construction
    std::shared_ptr<LoopMetrics> metrics_;
    std::mutex mutex_; // guards isOver_
    std::condition_variable changed_;
    bool isOver_ = false;
    std::thread thread_; // nondeterminism: none in a simulation
};

} // namespace flow

#pragma pop_macro("loop")
