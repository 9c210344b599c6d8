#include "flow/tasks/keep_running.h"

#include "flow/tasks/scope_of.h"
#include "flow/trace/trace_event.h"

#include <deque>

namespace flow {
namespace {

using End = Winner<ErrorOr<Void>>;

/// Runs the children until the first of them ends. They must outlive the future.
Future<End> firstEnd(std::vector<KeptChild> const& children, std::source_location caller, Propagate = {}) {
    ScopeOf<ErrorOr<Void>> running;
    for (KeptChild const& child : children)
        running.spawn([&child] { return child.run(); }, caller);
    std::optional<End> first = co_await running.next();
    co_return std::move(*first);
}

void report(std::string const& name, Error error, bool runsAgain, double seconds) {
    TraceEvent event(runsAgain ? SevWarn : SevError, "KeptChildEnded");
    event.detail("Name", name).error(error);
    if (runsAgain)
        event.detail("Wait", seconds);
}

Future<Void> keepTogether(KeepPolicy policy, std::vector<KeptChild> children, std::source_location caller,
                          Propagate = {}) {
    std::deque<double> ends; // the ends in the last `within` seconds
    for (int failed = 1;; ++failed) {
        double begun = now();
        End end = co_await firstEnd(children, caller);
        Error error = end.value().isError() ? end.value().getError() : operation_failed();
        ends.push_back(now());
        while (ends.front() < now() - policy.within)
            ends.pop_front();
        if (now() - begun >= policy.healthy)
            failed = 1;
        bool runsAgain = policy.retry.continuesAfter(static_cast<int>(ends.size()), error);
        double seconds = runsAgain ? policy.retry.secondsAfter(failed) : 0;
        report(children[end.index()].name, error, runsAgain, seconds);
        if (!runsAgain)
            co_await coro::fail(error);
        co_await delay(seconds);
    }
}

Future<Void> keepEach(KeepPolicy policy, std::vector<KeptChild> children, std::source_location caller, Propagate = {}) {
    ScopeOf<Void> kept; // also ends the rest after actor_cancelled, which a Scope ignores
    for (KeptChild& child : children)
        kept.spawn(keepTogether(policy, std::vector<KeptChild>(1, std::move(child)), caller), caller);
    co_await kept.next(); // throws: a child of keepTogether() ends only with an error
}

} // namespace

void KeepPolicy::check(std::source_location caller) const {
    retry.check(caller);
    FLOW_ASSERT_AT(caller, retry.attempts > 0, "KeepPolicy: retry.attempts must be at least 1");
    FLOW_ASSERT_AT(caller, within >= 0, "KeepPolicy: `within` must not be negative");
    FLOW_ASSERT_AT(caller, healthy >= 0, "KeepPolicy: `healthy` must not be negative");
}

Future<Void> keepRunning(KeepPolicy policy, std::string name, std::function<Future<Void>()> run,
                         std::source_location caller) {
    std::vector<KeptChild> child;
    child.push_back({std::move(name), std::move(run)});
    return keepRunning(policy, std::move(child), Restart::OneForAll, caller);
}

Future<Void> keepRunning(KeepPolicy policy, std::vector<KeptChild> children, Restart restart,
                         std::source_location caller) {
    policy.check(caller);
    for (KeptChild const& child : children)
        FLOW_ASSERT_AT(caller, child.run, "keepRunning(): a child has no function");
    if (children.empty())
        return Void();
    return restart == Restart::OneForAll ? keepTogether(policy, std::move(children), caller)
                                         : keepEach(policy, std::move(children), caller);
}

} // namespace flow
