#pragma once
// Watchdog: reports a step that does not end, from another thread.
//
//     Watchdog watch({.after = 5s, .aborts = false});        // in main(), after the loop; for as long as it exists
//     loop.run(serve());
//
//     flow: Watchdog: the loop main has run a step of rebuildIndex for 5.01 s, now in sortRows at index.cpp:20
//       0 sortRows(std::vector<Row>&)
//       ...
//
// LongSteps (flow/wait/long_steps.h) reports a long step when it has ended. A Watchdog reports it while it runs, so
// also a step that never ends. It watches all loops of the process with a shared LoopMetrics
// (flow/trace/loop_metrics.h), and makes one for the loop on which it is made. If a loop has run one step for `after`,
// the report is printed to standard error, once for each step. runningSteps() (flow/inspect/running_steps.h) says what
// is in it. The event "StepRunsLong" (flow/trace/trace_event.h) follows when the step has ended, since trace events
// belong to the loop's thread.
//
// The end. A program that waits for SIGTERM by signals() (flow/wait/signals.h) cannot end while a step keeps its loop
// busy. So if SIGTERM has come and a loop runs one step from then on for `afterTermination`, the Watchdog prints the
// report, and ends the process by SIGTERM. It does so only if signals() was called for SIGTERM.
//
// A Watchdog has one thread, which sleeps most of the time. The loop has no cost besides that of LoopMetrics. A
// Watchdog belongs to the thread of its loop, and ends before the loop. One for the process is enough. A simulated loop
// has none: its time stands still during a step.

#include "flow/base/seconds.h"
#include "flow/trace/loop_metrics.h"

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <source_location>
#include <string>
#include <thread>

namespace flow {

struct WatchdogOptions {
    Seconds after = 5;            // a step of so many seconds is reported
    bool aborts = false;          // also ends the process by abort(), after the report
    Seconds afterTermination = 5; // seconds from SIGTERM to the end of the process; 0: SIGTERM does not matter
    std::string loop = "main";    // the name of this loop, if its LoopMetrics has none yet
};

class Watchdog {
public:
    /// Throws invalid_option_value with a sentence that names the option, and std::system_error if there cannot be
    /// another thread. Must be called on a loop that is not simulated.
    explicit Watchdog(WatchdogOptions options = {}, std::source_location caller = std::source_location::current());
    Watchdog(Watchdog const&) = delete;
    Watchdog& operator=(Watchdog const&) = delete;
    ~Watchdog();

private:
    void run();

    WatchdogOptions const options_;
    std::uint64_t const terminations_; // the SIGTERMs that came before
    std::shared_ptr<LoopMetrics> metrics_;
    std::mutex mutex_; // guards isOver_
    std::condition_variable changed_;
    bool isOver_ = false;
    std::thread thread_; // nondeterminism: none in a simulation
};

} // namespace flow
