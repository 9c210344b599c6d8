#pragma once
// keepRunning(): runs a child again each time that it ends or fails, after a wait that grows.
//
//     Future<Void> polling = keepRunning({}, "poller 1", [=] { return poll(1); });
//
//     std::vector<KeptChild> parts;
//     parts.push_back({"reader", [&] { return read(&buffer); }});
//     parts.push_back({"writer", [&] { return write(&buffer); }});
//     co_await keepRunning({.healthy = 1min}, parts, Restart::OneForAll);
//
// The waits are those of retry() (flow/combine/retry.h). After a run of at least `healthy` seconds they begin anew.
// policy.retry.attempts says how often a child may run within `within` seconds. When the last of these runs ends, or a
// run ends with an error that policy.retry.retries refuses, the future fails with that error, or with operation_failed
// if the run had none. Then a Scope that holds the future cancels its other children. actor_cancelled, as the error
// of a child, is not followed by another run.
//
// A group is kept as supervisors of Erlang keep theirs. With Restart::OneForOne each child is kept by itself, and the
// first that fails for good ends the others. With Restart::OneForAll, the end of one child cancels the others, and
// after the wait all run again, in their order: for children that share a state.
//
// Each end is a trace event "KeptChildEnded" with the name of the child, the error, and the seconds until the next run:
// SevWarn, or SevError if no run follows. Cancel-safe: dropping the future cancels the children. A child that is
// Uncancellable runs on beside the next run. The functions stay as long as the future, so they may be coroutines with
// captures. An exception of a function counts as the error of the child.

#include "flow/combine/retry.h"

#include <functional>
#include <string>
#include <vector>

namespace flow {

struct KeepPolicy {
    RetryPolicy retry = {.attempts = 10}; // the waits, the errors after which a run follows, and the most runs ...
    Seconds within = 300;                 // ... within so many seconds
    Seconds healthy = 30;                 // after a run of so many seconds, the next wait is the first one again

    void check(std::source_location caller = std::source_location::current()) const;
};

enum class Restart : std::uint8_t { OneForOne, OneForAll };

struct KeptChild {
    std::string name;
    std::function<Future<Void>()> run; // called for each run
};

Future<Void> keepRunning(KeepPolicy policy, std::string name, std::function<Future<Void>()> run,
                         std::source_location caller = std::source_location::current());
/// Keeps a group. Ready at once if there are no children.
Future<Void> keepRunning(KeepPolicy policy, std::vector<KeptChild> children, Restart restart = Restart::OneForOne,
                         std::source_location caller = std::source_location::current());

} // namespace flow
