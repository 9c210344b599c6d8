#pragma once
// LoopMetrics: counts the work of a loop: steps, turns, busy and idle time, and the causes that made steps ready.
//
//     LoopMetrics metrics(loop);
//     ...
//     LoopFigures figures = metrics.figures();
//     std::string page = prometheusText(figures, "main");
//
// While a LoopMetrics exists, each step costs reads of the clock, to find long steps. Without one, a step costs nothing
// more. A LoopMetrics belongs to the loop's thread and must end before the loop. It counts from its construction on;
// but ready steps, timers and memory are counted at the call of figures(). For this, figures() reads all ready steps
// and all timers, which takes long if there are a million.

#include "flow/base/seconds.h"
#include "flow/loop/detail/cycle_clock.h"
#include "flow/loop/loop.h"
#include "flow/loop/step_watch.h"
#include "flow/memory/fast_allocator.h"

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

    double seconds = 0; // since counting began
    double idle = 0;    // the time in which the loop slept
    double busy = 0;    // the rest of the time
    std::uint64_t turns = 0;
    std::uint64_t steps = 0;
    std::uint64_t sleeps = 0;
    // The numbers of waiters that a step, a timer, a post of another thread, or other code (the poller) made ready:
    std::uint64_t bySteps = 0;
    std::uint64_t byTimers = 0;
    std::uint64_t byPosts = 0;
    std::uint64_t byNews = 0;
    // At this moment:
    std::vector<std::pair<int, std::uint64_t>> ready; // by priority, the most urgent first
    std::uint64_t timers = 0;                         // the number of timers that are set
    memory::Statistics blocks;                        // the blocks of this thread
    memory::Usage memory;
    std::vector<LongSteps> longSteps; // one entry for each actor: the 32 with the most seconds, sorted
};

class LoopMetrics final : StepWatch {
public:
    /// Counts from now on. Steps of at least `longStep` seconds are also counted by actor.
    explicit LoopMetrics(Loop& loop, Seconds longStep = 0.010);
    LoopMetrics(LoopMetrics const&) = delete;
    LoopMetrics& operator=(LoopMetrics const&) = delete;
    ~LoopMetrics();

    /// Throws std::bad_alloc.
    LoopFigures figures() const;

private:
    struct Long {
        std::uint64_t count = 0;
        double seconds = 0;
        double longest = 0;
    };
    struct Running {
        void const* code;
        std::uint64_t since;
    };

    void turnBegins() noexcept override;
    void woken(WaiterNode*, TaskPriority, WokenBy by) noexcept override { ++woken_[static_cast<int>(by)]; }
    void begins(WaiterNode* step, TaskPriority) noexcept override;
    void ended() noexcept override;
    void sleeps() noexcept override;
    void wakes() noexcept override;

    Loop& loop_;
    mutable CycleClock clock_;
    std::uint64_t longTicks_ = 0; // a step that takes at least so many ticks is long
    std::uint64_t began_;
    std::uint64_t idleTicks_ = 0;
    std::uint64_t asleepSince_ = 0;
    std::uint64_t now_ = 0;
    bool isFresh_ = false; // true if nothing has run since now_ was read
    std::uint64_t turns_ = 0;
    std::uint64_t steps_ = 0;
    std::uint64_t sleeps_ = 0;
    std::uint64_t woken_[4] = {};
    std::vector<Running> running_;
    // nondeterminism: the order of this map does not matter, since figures() sorts the results.
    std::unordered_map<void const*, Long> long_; // by the address of the step's code
};

/// Returns a page in the text format of Prometheus. Each figure has a label "loop" with the value `loop`.
std::string prometheusText(LoopFigures const& figures, std::string_view loop);
/// Returns one JSON object.
std::string jsonText(LoopFigures const& figures, std::string_view loop);

/// Appends the line "NAME{LABELS} VALUE". If `out` has no line "# TYPE NAME TYPE" yet, appends that line first.
void appendPrometheus(std::string& out, std::string_view name, std::string_view type, std::string_view labels,
                      double value);
/// Returns `key="value"`, with escapes where needed.
std::string prometheusLabel(std::string_view key, std::string_view value);

} // namespace flow
