#pragma once
// keepRunning(): runs a child again each time it ends or fails, after a growing wait.
//
//     Future<Void> polling = keepRunning({}, "poller 1", [=] { return poll(1); });
//
//     std::vector<KeptChild> parts;
//     parts.push_back({"reader", [&] { return read(&buffer); }});
//     parts.push_back({"writer", [&] { return write(&buffer); }});
//     co_await keepRunning({.healthy = 1min}, parts, Restart::OneForAll);
//
// The waits are as in retry() (flow/combine/retry.h). They begin anew after a run of at least `healthy` seconds. A
// child may run policy.retry.attempts times within `within` seconds. After the last of these runs, or after an error
// that policy.retry.retries refuses, the future fails with the error of the run, or with operation_failed if it had
// none. A Scope that holds the future then cancels its other children. There is no further run after actor_cancelled.
//
// A group works like a supervisor in Erlang. With Restart::OneForOne each child is restarted alone, and the first child
// without a further run ends all others. With Restart::OneForAll, the end of one child cancels the others, and after
// the wait all run again, in order: for children that share a state.
//
// Each end is a trace event "KeptChildEnded" with the name of the child, the error, and the seconds until the next run.
// It has SevWarn, or SevError if no run follows. Cancel-safe: dropping the future cancels the children. An
// Uncancellable child runs on beside the next run. The functions live as long as the future, so they may be coroutines
// with captures. If a function throws, the child has failed.

#include "flow/combine/retry.h"

#include <functional>
#include <string>
#include <vector>

namespace flow {

struct KeepPolicy {
    RetryPolicy retry = {.attempts = 10}; // the waits, the errors that are retried, and the maximum of runs
    Seconds within = 300;                 // the period in which `retry.attempts` counts the runs
    Seconds healthy = 30;                 // a run of at least this length resets the waits

    void check(std::source_location caller = std::source_location::current()) const;
};

enum class Restart : std::uint8_t { OneForOne, OneForAll };

struct KeptChild {
    std::string name;
    std::function<Future<Void>()> run; // called for each run
};

Future<Void> keepRunning(KeepPolicy policy, std::string name, std::function<Future<Void>()> run,
                         std::source_location caller = std::source_location::current());
/// Keeps a group running. Ready immediately if there are no children.
Future<Void> keepRunning(KeepPolicy policy, std::vector<KeptChild> children, Restart restart = Restart::OneForOne,
                         std::source_location caller = std::source_location::current());

} // namespace flow
