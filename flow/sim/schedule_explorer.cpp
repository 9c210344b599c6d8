#include "flow/sim/schedule_explorer.h"

#include "flow/base/format.h"
#include "flow/core/detail/wait_graph.h"
#include "flow/core/in_place.h"
#include "flow/diag/detail/symbol.h"
#include "flow/inspect/pending_report.h"
#include "flow/loop/detail/run_turn.h"
#include "flow/loop/loop.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace flow {
namespace {

struct Choice {
    int chosen;
    int of; // the number of steps to choose from
};

/// The choices of one run: first the choices that advance() prepared, then always the first step.
class Course {
public:
    int choose(int count) {
        if (next_ == choices_.size())
            choices_.push_back({0, count});
        FLOW_ASSERT(choices_[next_].of == count, "a test that depends on more than the order of its steps");
        return choices_[next_++].chosen;
    }
    /// Notes that some of the possible choices are never made.
    void leaveOut() { isWhole_ = false; }
    bool isWhole() const { return isWhole_; }
    /// Prepares the next course, in lexicographic order. Returns false if this was the last one.
    bool advance() {
        choices_.resize(next_);
        next_ = 0;
        while (!choices_.empty() && choices_.back().chosen + 1 == choices_.back().of)
            choices_.pop_back();
        if (choices_.empty())
            return false;
        ++choices_.back().chosen;
        return true;
    }

private:
    std::vector<Choice> choices_;
    std::size_t next_ = 0;
    bool isWhole_ = true;
};

class ScheduledLoop final : public Loop {
public:
    ScheduledLoop(Course& course, int together) : course_(course), together_(together) {}
    ~ScheduledLoop() override { end(); }

    double timer() override { return now_; }
    bool isSimulated() const override { return true; }
    std::string course() const {
        std::string text;
        for (Step const& each : steps_) {
            char name[128];
            actorNameAt(each.code, name, sizeof name);
            text += format("  %s, of %d\n", name, each.of);
        }
        return text;
    }

private:
    double startTurn() noexcept override { return now_; }
    bool idleUntil(double deadline) override {
        if (deadline == std::numeric_limits<double>::infinity())
            return false;
        now_ = deadline;
        return true;
    }
    bool sliceIsOver() override {
        resetSlice();
        return true;
    }
    bool runTurn() override {
        return runTurnWith([this] { return choose(); });
    }

    WaiterNode* choose() {
        ready_.clear();
        WaiterNode* first = takeReady();
        if (!first)
            return nullptr;
        TaskPriority priority = currentPriority();
        ready_.push_back(first);
        while (WaiterNode* next = takeReady()) {
            if (currentPriority() != priority) { // `next` goes to the end of the list of its priority
                makeReady(next, currentPriority());
                break;
            }
            ready_.push_back(next);
        }
        int count = std::min(static_cast<int>(ready_.size()), together_);
        if (count < static_cast<int>(ready_.size()))
            course_.leaveOut();
        WaiterNode* chosen = ready_[static_cast<std::size_t>(count > 1 ? course_.choose(count) : 0)];
        makeReady(chosen, priority);
        for (WaiterNode* each : ready_)
            if (each != chosen)
                makeReady(each, priority);
        steps_.push_back({reinterpret_cast<void const*>(chosen->resume), count});
        return takeReady(); // takes the chosen step, and makes its priority the current one
    }

    struct Step {
        void const* code;
        int of; // the number of steps to choose from
    };

    Course& course_;
    int together_;
    std::vector<WaiterNode*> ready_;
    std::vector<Step> steps_;
};

/// Runs one order. Returns a description of its failure, or an empty text.
std::string runOnce(std::function<Future<Void>()> const& test, Course& course, int together) {
    LiveBlocks liveBlocks;
    CellGroup cells;
    liveBlocks.enter(&cells);
    ScheduledLoop loop(course, together);
    std::string failure;
    Future<Void> running;
    try {
        running = test();
    } catch (...) {
        running = detail::failedByCaught<Void>();
    }
    try {
        loop.run(running);
    } catch (...) {
        Error error = currentError();
        failure = running.isReady() ? format("it ended with %s (%d)", error.name(), error.code())
                                    : "nothing can happen any more:\n" + describeWaiting(cells) + waitCycles(cells);
    }
    if (!failure.empty())
        failure += "\nin this order:\n" + loop.course();
    return failure;
}

} // namespace

Schedules exploreSchedules(std::function<Future<Void>()> const& test, std::uint64_t most, int together) {
    FLOW_ASSERT(most > 0 && together > 0, "exploreSchedules(): most and together must be above 0");
    Schedules orders;
    Course course;
    while (orders.count < most) {
        ++orders.count;
        orders.failure = runOnce(test, course, together);
        if (!orders.failure.empty())
            break;
        if (!course.advance()) {
            orders.all = course.isWhole();
            break;
        }
    }
    return orders;
}

} // namespace flow
