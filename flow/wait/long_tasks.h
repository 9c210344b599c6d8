#pragma once
// LongTasks: reports the tasks that occupy a loop for long, so that nothing else on it runs.
//
//     LongTasks report(loop);                                   // 10 ms and more, a line each to standard error
//     LongTasks report(loop, 0.002, [](LongTask const& task) {
//         TraceEvent(SevWarn, "LongTask").detail("Actor", task.actor).detail("Seconds", task.seconds);
//     });
//
// A task is one call by the loop: an actor that is resumed runs until it waits again, with everything that it resumes
// meanwhile. It is reported when it has ended, under the name of the actor that was resumed first, or of the function
// of a fiber. A task that runs the loop itself counts with all that it runs.
//
// While one exists the loop reads the clock twice a task; else it costs nothing. The loop outlives it.
// Belongs to the loop's thread; it begins with the next turn.

#include "flow/loop/real_loop.h"
#include "flow/loop/task_watch.h"

namespace flow {

struct LongTask {
    char const* actor; // valid during the call
    double seconds;
    TaskPriority priority;
};

class LongTasks final : TaskWatch {
public:
    /// It must not throw, nor destroy its LongTasks. Without captures.
    using Handler = void (*)(LongTask const& task);

    explicit LongTasks(RealLoop& loop, double seconds = 0.010, Handler handler = printToStandardError);
    LongTasks(LongTasks const&) = delete;
    LongTasks& operator=(LongTasks const&) = delete;
    ~LongTasks();

    static void printToStandardError(LongTask const& task);

private:
    struct Running {
        void const* code;
        double since;
        TaskPriority priority;
    };

    void begins(WaiterNode* task, TaskPriority priority) noexcept override;
    void ended() noexcept override;

    RealLoop& loop_;
    double seconds_;
    Handler handler_;
    static constexpr int kMostNested = 8; // tasks that run the loop themselves; deeper ones are not measured
    Running running_[kMostNested];
    int depth_ = 0;
};

/// The code of the actor that a task of a loop resumes. For a branch of a choose it is the frame's, for a source that
/// of its first waiter.
void const* codeOfTask(detail::Waiter const* task) noexcept;

} // namespace flow
