// The thread compares the running step of each shared LoopMetrics with the time, several times in `after`. It prints
// without the lock of forEachShared(), since addr2line may take seconds.

#include "flow/inspect/watchdog.h"

#include "flow/base/assert.h"
#include "flow/base/error.h"
#include "flow/diag/machine_stack.h"
#include "flow/inspect/running_steps.h"
#include "flow/loop/real_loop.h"
#include "flow/trace/trace_event.h"
#include "flow/wait/signals.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <unistd.h>
#include <utility>
#include <vector>

namespace flow {
namespace {

void checkSeconds(char const* option, double seconds, bool mayBeZero) {
    if (std::isfinite(seconds) && (mayBeZero ? seconds >= 0 : seconds > 0))
        return;
    throw wrongOption("WatchdogOptions", option, std::to_string(seconds),
                      mayBeZero ? "it must be a finite number of seconds, or 0" : "it must be more than 0 seconds");
}

void print(std::vector<SampledStep> const& steps) {
    for (SampledStep const& each : steps)
        std::fprintf(stderr, "flow: Watchdog: %s", each.text().c_str());
}

[[noreturn]] void endBySignal() {
    std::signal(SIGTERM, SIG_DFL);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    std::raise(SIGTERM);
    ::_exit(128 + SIGTERM);
}

/// Writes the event of a step that has ended, on the thread of its loop.
void writeEvent(SampledStep const& step, std::string const& function) {
    TraceEvent event(SevWarnAlways, "StepRunsLong");
    if (!event.isEnabled())
        return;
    std::optional<double> seconds;
    LoopMetrics::forEachShared([&](LoopMetrics const& loop) {
        if (&loop.measuredLoop() == &Loop::current())
            seconds = loop.secondsOf(step.step);
    });
    event.detail("Loop", step.loop).detail("Actor", step.actor());
    event.detail(seconds ? "Seconds" : "SecondsAtLeast", seconds.value_or(step.step.seconds));
    if (!function.empty())
        event.detail("Function", function);
    if (std::string stack = machineStack(step.stack.data(), step.stack.size()); !stack.empty())
        event.detail("Backtrace", stack);
}

/// Makes the loops write the events when these steps have ended. Called before print(), which may take seconds: then
/// the length of the step is still known.
void postEvents(std::vector<SampledStep> const& steps) {
    for (SampledStep const& each : steps) {
        std::string function = each.function();
        LoopMetrics::forEachShared([&](LoopMetrics const& loop) {
            if (each.loop == loop.name())
                loop.measuredLoop().post([each, function] { writeEvent(each, function); });
        });
    }
}

/// The reported steps, and the time of SIGTERM.
class LongStepReports {
public:
    LongStepReports(WatchdogOptions const& options, std::uint64_t terminations)
        : options_(options), terminations_(terminations) {}

    void look() {
        if (!isTerminated_ && detail::signalsSoFar(SIGTERM) != terminations_) {
            isTerminated_ = true;
            terminated_ = machineTime();
        }
        double sinceTermination = isTerminated_ ? machineTime() - terminated_ : -1;
        double after = options_.after, limit = options_.afterTermination;
        bool mustEnd = false;
        std::erase_if(reported_, [](Reported& each) { return !std::exchange(each.isRunning, false); });
        std::vector<SampledStep> steps = sampleRunningSteps([&](LoopMetrics const& loop, RunningStep const& step) {
            bool ends = limit > 0 && std::min(step.seconds, sinceTermination) >= limit;
            mustEnd |= ends;
            return (step.seconds >= after && isNew(loop, step)) || ends;
        });
        postEvents(steps);
        print(steps);
        if (mustEnd)
            endBySignal();
        if (options_.aborts && !steps.empty())
            std::abort();
    }

private:
    struct Reported {
        LoopMetrics const* loop;
        std::uint64_t id;
        bool isRunning;
    };

    bool isNew(LoopMetrics const& loop, RunningStep const& step) {
        for (Reported& each : reported_)
            if (each.loop == &loop && each.id == step.id) {
                each.isRunning = true;
                return false;
            }
        reported_.push_back({&loop, step.id, true});
        return true;
    }

    WatchdogOptions const& options_;
    std::uint64_t terminations_;
    bool isTerminated_ = false; // SIGTERM has come
    double terminated_ = 0;     // the time of SIGTERM
    std::vector<Reported> reported_;
};

} // namespace

Watchdog::Watchdog(WatchdogOptions options, std::source_location caller)
    : options_(std::move(options)), terminations_(detail::signalsSoFar(SIGTERM)) {
    FLOW_ASSERT_AT(caller, hasLoop() && !Loop::current().isSimulated(),
                   "a Watchdog is made on a loop that is not simulated");
    checkSeconds("after", options_.after, false);
    checkSeconds("afterTermination", options_.afterTermination, true);
    metrics_ = LoopMetrics::shared(options_.loop);
    thread_ = std::thread([this] { run(); }); // nondeterminism: as in the header
}

Watchdog::~Watchdog() {
    {
        std::lock_guard lock(mutex_);
        isOver_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void Watchdog::run() {
    (void)::pthread_setname_np(::pthread_self(), "watchdog"); // nondeterminism: for debuggers
    double shortest = options_.after;
    if (options_.afterTermination > 0)
        shortest = std::min<double>(shortest, options_.afterTermination);
    std::chrono::duration<double> period(std::clamp(shortest / 8, 0.001, 0.5));
    LongStepReports reports(options_, terminations_);
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, period, [this] { return isOver_; })) { // nondeterminism: as in the header
        lock.unlock();
        reports.look();
        lock.lock();
    }
}

} // namespace flow
