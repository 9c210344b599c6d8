#pragma once
// TaskProfile: the time of a loop: by actor and its awaiters, and in the ready queue by priority; and the allocations
// of each actor.
//
//     TaskProfile profile(loop);
//     ...
//     std::string json = profile.json();
//
// tools/profile shows it. A task counts for the actor that it resumes first, and for the chain of computations that
// await this actor then: an asynchronous call stack. While a TaskProfile exists a task costs about a microsecond more.
// Allocations are counted on request only, since that makes each one several times as slow. The loop outlives the
// TaskProfile. It belongs to the loop's thread; one that counts allocations ends before older ones that do.

#include "flow/loop/loop.h"
#include "flow/loop/task_watch.h"
#include "flow/loop/ticks.h"
#include "flow/memory/allocation_watch.h"
#include "flow/trace/ready_order.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace flow {

class TaskProfile final : TaskWatch {
public:
    explicit TaskProfile(Loop& loop, bool countsAllocations = false);
    TaskProfile(TaskProfile const&) = delete;
    TaskProfile& operator=(TaskProfile const&) = delete;
    ~TaskProfile();

    /// {"seconds":S, "chains":[{"frames":[OUTERMOST, ..., ACTOR], "tasks":N, "seconds":S, "allocations":N}, ...],
    ///  "delays":[{"priority":P, "tasks":N, "seconds":S, "longest":S, "below":[N, ...]}, ...]}
    /// `below` counts the delays by powers of two: the n-th those of less than 2^n microseconds, the last all others.
    /// "seconds" of a task are those that it ran itself, without tasks of loops that it runs.
    std::string json() const;

private:
    using Codes = std::vector<void const*>; // the actor, then the computations that await it
    struct Spent {
        std::uint64_t tasks = 0;
        std::uint64_t ticks = 0;
        std::uint64_t allocations = 0;
    };
    struct Delay {
        std::uint64_t tasks = 0;
        double seconds = 0;
        double longest = 0;
        std::array<std::uint64_t, 22> below = {}; // up to a second
    };
    struct Running {
        Spent* spent;
        std::uint64_t since;
        std::uint64_t nested = 0;
    };
    struct Allocations final : memory::AllocationWatch {
        explicit Allocations(TaskProfile& p) : profile(p) {}
        void allocated(void*, void*) noexcept override { ++profile.current().allocations; }
        TaskProfile& profile;
    };

    void woken(WaiterNode* waiter, TaskPriority priority, WokenBy) noexcept override;
    void begins(WaiterNode* task, TaskPriority priority) noexcept override;
    void ended() noexcept override;
    Spent& current() { return running_.empty() ? outside_ : *running_.back().spent; }

    Loop& loop_;
    mutable Ticks ticks_;
    std::uint64_t began_;
    trace::ReadyOrder<std::uint64_t> ready_; // the times at which waiters became ready
    std::map<Codes, Spent> chains_;
    std::map<TaskPriority, Delay> delays_;
    std::vector<Running> running_;
    Codes chain_; // of the task that begins
    Spent outside_;
    std::optional<Allocations> allocations_;
};

} // namespace flow
