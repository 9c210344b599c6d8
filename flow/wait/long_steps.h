#pragma once
// LongSteps: reports each long step of a loop. During a long step the loop runs nothing else.
//
//     LongSteps report(loop);                                   // 10 ms and more, a line each to standard error
//     LongSteps report(loop, 0.002, [](LongStep const& step) {
//         TraceEvent(SevWarn, "LongStep").detail("Actor", step.actor).detail("Seconds", step.seconds);
//     });
//
// A step is one call by the loop: the loop resumes an actor, which runs until it waits again. Actors that it resumes
// meanwhile belong to the same step. A long step is reported when it has ended, with the name of the actor that the
// loop resumed, or of a fiber's function. If a step brings the answer of another thread, as for files and
// runBlocking(), the report names the actor that gets the answer. If a step runs the loop itself, its time includes the
// steps inside it.
//
// While a LongSteps exists, the loop reads the clock twice in each step; otherwise there is no cost. The loop must
// outlive the LongSteps. A LongSteps belongs to the loop's thread, and reports steps from the next turn on.

#include "flow/base/seconds.h"
#include "flow/loop/real_loop.h"
#include "flow/loop/step_watch.h"

namespace flow {

struct LongStep {
    char const* actor; // valid during the call of the handler
    double seconds;
    TaskPriority priority;
};

class LongSteps final : StepWatch {
public:
    /// A function without captures. It must not throw, and must not destroy its LongSteps.
    using Handler = void (*)(LongStep const& step);

    explicit LongSteps(RealLoop& watched, Seconds seconds = 0.010, Handler handler = printToStandardError);
    LongSteps(LongSteps const&) = delete;
    LongSteps& operator=(LongSteps const&) = delete;
    ~LongSteps();

    static void printToStandardError(LongStep const& step);

private:
    struct Running {
        void const* code;
        double since;
        TaskPriority priority;
    };

    void begins(WaiterNode* step, TaskPriority priority) noexcept override;
    void ended() noexcept override;
    void answers(WaiterNode* waiter) noexcept override;

    RealLoop& loop_;
    double seconds_;
    Handler handler_;
    static constexpr int kMostNested = 8; // steps inside steps that run the loop; deeper ones are not measured
    Running running_[kMostNested];
    int depth_ = 0;
};

/// Returns the code of the actor that a step resumes. A branch resumes its frame; a source resumes its first waiter.
void const* codeOfStep(detail::Waiter const* step) noexcept;

} // namespace flow
