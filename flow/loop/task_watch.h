#pragma once
// TaskWatch: is called at each task of a loop, and when a task becomes ready.
//
//     struct Count final : TaskWatch {
//         void begins(WaiterNode*, TaskPriority) noexcept override { ++tasks; }
//         int tasks = 0;
//     } count;
//     loop.add(count);                 // from the next turn on
//     loop.remove(count);              // at any time, also by a task
//
// Any number at a time. A loop without one runs the code that it always ran; one that has some checks its ready queue
// after each task. The watch outlives its time at the loop. All of it belongs to the loop's thread.

#include "flow/core/in_place.h"
#include "flow/loop/ready_queue.h"

#include <memory>
#include <vector>

namespace flow {

/// What has made a waiter ready: a task that ran, a timer, a post of another thread, or the poller and whatever else
/// ran between two turns.
enum class WokenBy : std::uint8_t { Task, Timer, Post, News };

class TaskWatch {
public:
    virtual void turnBegins() noexcept {}
    virtual void turnEnds() noexcept {}
    /// This waiter is in the ready queue now, behind the others of its priority that were reported. Called for what a
    /// task has made ready when the task has ended.
    virtual void woken(WaiterNode*, TaskPriority, WokenBy) noexcept {}
    /// A task that runs the loop itself has others between its begin and its end.
    virtual void begins(WaiterNode* task, TaskPriority) noexcept = 0;
    virtual void ended() noexcept {}
    /// Around each sleep at the poller.
    virtual void sleeps() noexcept {}
    virtual void wakes() noexcept {}

protected:
    TaskWatch() = default;
    TaskWatch(TaskWatch const&) = delete;
    TaskWatch& operator=(TaskWatch const&) = delete;
    ~TaskWatch() = default;
};

namespace detail {

/// The watches of a loop. What is new in the ready queue is what stands behind a mark: a waiter that the loop does not
/// run, one for each priority. It stands there only while there are others, or a task runs: so the loop behaves as
/// without it.
class TaskWatches {
public:
    explicit TaskWatches(ReadyQueue& ready) : ready_(ready) {}
    TaskWatches(TaskWatches const&) = delete;
    TaskWatches& operator=(TaskWatches const&) = delete;
    ~TaskWatches();

    void add(TaskWatch& watch) { all_.push_back({&watch, 0}); }
    /// Nothing needs it any more.
    bool isIdle() const { return all_.empty() && turns_ == 0; }
    void remove(TaskWatch& watch) {
        std::erase_if(all_, [&](Entry const& each) { return each.watch == &watch; });
    }

    void turnBegins() noexcept;
    void turnEnds() noexcept;
    /// Reports what has become ready since the last call. Afterwards no mark is the first of its priority.
    void woken(WokenBy by) noexcept;
    void begins(Waiter* task, TaskPriority priority) noexcept;
    void ended() noexcept;
    void sleeps() noexcept;
    void wakes() noexcept;
    /// Nothing else is its own owner.
    static bool isMark(Waiter const* waiter) { return waiter->owner == waiter; }

private:
    struct Entry {
        TaskWatch* watch;
        int tasks; // that it has seen begin and not end
    };
    struct Mark {
        Mark(int l) : level(l) { waiter.owner = &waiter; }
        int level;
        Waiter waiter{[](Waiter*) {}, {nullptr}, {nullptr, nullptr}, {}};
    };

    Link& markOf(int level);
    template <class Call>
    void forEach(Call&& call) noexcept;

    ReadyQueue& ready_;
    std::vector<Entry> all_;
    int turns_ = 0;                            // under way: a task may run its loop
    std::vector<std::unique_ptr<Mark>> marks_; // few: one a priority
};

} // namespace detail
} // namespace flow
