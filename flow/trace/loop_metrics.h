#pragma once
// LoopMetrics: counts the work of a loop: steps, turns, busy and idle time, and the causes that made steps ready.
//
//     LoopMetrics metrics(loop);
//     ...
//     LoopFigures figures = metrics.figures();
//     std::string page = prometheusText(figures, "main");
//
// While a LoopMetrics exists, each step costs reads of the clock, to find long steps. A LoopMetrics belongs to the
// loop's thread and must end before the loop. It counts from its construction on. figures() also visits all ready steps
// and timers, which takes long if there are a million.
//
// Other threads can read a shared LoopMetrics, also while a step keeps the loop busy:
//
//     auto metrics = LoopMetrics::shared("worker 1");        // on the loop; the console and the Watchdog have one too
//
//     LoopMetrics::forEachShared([](LoopMetrics const& loop) {                          // on any thread
//         if (auto running = loop.running())
//             print(loop.name(), running->seconds);
//     });
//
// For this each step stores its code and its start time: three stores, without a locked instruction.

#include "flow/base/one_writer.h"
#include "flow/base/seconds.h"
#include "flow/loop/detail/cycle_clock.h"
#include "flow/loop/loop.h"
#include "flow/loop/step_watch.h"
#include "flow/memory/fast_allocator.h"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace flow {

struct LoopFigures {
    struct LongSteps {
        std::string actor;
        std::uint64_t count;
        double seconds; // the sum for all these steps
        double longest;
    };

    double seconds = 0; // since the construction of the LoopMetrics
    double idle = 0;    // the time in which the loop slept
    double busy = 0;    // the rest of the time
    std::uint64_t turns = 0;
    std::uint64_t steps = 0;
    std::uint64_t sleeps = 0;
    // The numbers of waiters made ready by steps, timers, posts of other threads, and other code (the poller):
    std::uint64_t bySteps = 0;
    std::uint64_t byTimers = 0;
    std::uint64_t byPosts = 0;
    std::uint64_t byNews = 0;
    // The durations of turns, from the first step to the last. New events and due timers wait for this time.
    std::vector<std::pair<double, std::uint64_t>> latencies; // each bound in seconds, and the turns up to it
    std::uint64_t latencyCount = 0;
    double latencySeconds = 0;  // the sum
    double running = 0;         // the seconds since the running step began; 0: no step runs
    bool isFromOutside = false; // true: another thread read these figures, without the rest
    // At this moment:
    std::vector<std::pair<int, std::uint64_t>> ready; // by priority, the most urgent first
    std::uint64_t timers = 0;                         // the number of timers that are set
    memory::Statistics blocks;                        // the blocks of this thread
    memory::Usage memory;
    std::vector<LongSteps> longSteps; // one entry for each actor: the 32 with the most seconds, sorted
};

/// A step that has begun and not ended.
struct RunningStep {
    void const* code; // actorNameAt() gives the name of the actor
    double seconds;   // since the step has begun
    std::uint64_t id; // different from the ids of all other steps of this loop
};

class LoopMetrics final : StepWatch {
public:
    /// Steps of at least `longStep` seconds are also counted by actor.
    explicit LoopMetrics(Loop& measured, Seconds longStep = 0.010);
    LoopMetrics(LoopMetrics const&) = delete;
    LoopMetrics& operator=(LoopMetrics const&) = delete;
    ~LoopMetrics();

    /// Returns all figures. Throws std::bad_alloc.
    LoopFigures figures() const;

    /// Returns the shared LoopMetrics of the current loop, which must not be simulated. The first call makes it, and
    /// adds a number to its name if that is taken. The last pointer must end on the loop's thread, before the loop.
    static std::shared_ptr<LoopMetrics> shared(std::string name);
    /// Calls visit() for each shared LoopMetrics of the process. Any thread may call this. Meanwhile no shared
    /// LoopMetrics begins or ends, so their loops exist. visit() must be short, and only call the next six functions.
    static void forEachShared(std::function<void(LoopMetrics const&)> const& visit);

    Loop& measuredLoop() const { return loop_; }
    std::string const& name() const { return name_; }
    /// Returns the thread id (as gettid() does) of the loop's thread.
    int thread() const { return thread_; }
    /// Returns the running step; the innermost one if a step runs the loop itself.
    std::optional<RunningStep> running() const;
    /// Returns the figures that another thread can read: all but the figures of this moment and the long steps.
    LoopFigures figuresFromOutside() const;
    /// Returns how many seconds a step has taken that running() has shown before. Returns nothing if the step runs on,
    /// or was shorter than `longStep`, or if a later long step resumed the same code. To be called on the loop's
    /// thread.
    std::optional<double> secondsOf(RunningStep const& step) const;

private:
    struct Shared;
    static Shared& allShared();
    struct Long {
        std::uint64_t count = 0;
        double seconds = 0;
        double longest = 0;
        std::uint64_t latest = 0; // the id of the latest such step
        double latestSeconds = 0;
    };
    struct Running {
        void const* code;
        std::uint64_t since;
    };

    LoopFigures counted(CycleClock& clock) const;

    void turnBegins() noexcept override;
    void turnEnds() noexcept override;
    void woken(WaiterNode*, TaskPriority, WokenBy by) noexcept override { woken_[static_cast<int>(by)].add(1); }
    void begins(WaiterNode* step, TaskPriority) noexcept override;
    void ended() noexcept override;
    void answers(WaiterNode* waiter) noexcept override;
    void sleeps() noexcept override;
    void wakes() noexcept override;

    Loop& loop_;
    mutable CycleClock clock_;
    std::uint64_t longTicks_ = 0; // a step is long from this number of ticks on
    std::uint64_t began_;
    std::uint64_t turnBegan_ = 0; // 0: no step has run in this turn
    std::uint64_t now_ = 0;
    bool isFresh_ = false;                    // true if nothing has run since now_ was read
    std::vector<std::uint64_t> latencyTicks_; // the bounds
    std::string name_;
    int thread_ = 0;
    // Other threads read these:
    OneWriter<std::uint64_t> idleTicks_, asleepSince_, turns_, steps_, sleeps_;
    OneWriter<std::uint64_t> woken_[4];
    std::vector<OneWriter<std::uint64_t>> latencies_; // the turns up to each bound, and then the longer ones
    OneWriter<std::uint64_t> latencySum_;
    std::atomic<void const*> runningCode_{nullptr};
    std::atomic<std::uint64_t> runningSince_{0}; // 0: no step runs

    std::vector<Running> running_;
    // nondeterminism: the order of this map does not matter, since figures() sorts the results.
    std::unordered_map<void const*, Long> long_; // by the address of the step's code
};

/// Returns a page in the text format of Prometheus. Each figure has a label "loop" with the value `nameOfLoop`.
std::string prometheusText(LoopFigures const& figures, std::string_view nameOfLoop);
/// Returns one page with the lines of several pages, grouped by name.
std::string mergePrometheus(std::vector<std::string> const& pages);
/// Returns one JSON object.
std::string jsonText(LoopFigures const& figures, std::string_view nameOfLoop);

/// Appends the line "NAME{LABELS} VALUE". If `out` has no line "# TYPE NAME TYPE" yet, appends that line first.
void appendPrometheus(std::string& out, std::string_view name, std::string_view type, std::string_view labels,
                      double value);
/// Returns `key="value"`, with escapes where needed.
std::string prometheusLabel(std::string_view key, std::string_view value);

} // namespace flow
