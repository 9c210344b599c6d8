#pragma once
// StepProfile: measures the time of each actor of a loop, and the time of waiters in the ready queue, by priority.
//
//     StepProfile profile(loop);
//     ...
//     std::string json = profile.json();
//
// millrace profile shows the result. A step counts for the actor that it resumes first, together with the computations
// that await this actor at that moment. A StepProfile makes a step about a microsecond longer. It can also count
// allocations: each is then several times as slow, and the newest such StepProfile must end first. A StepProfile
// belongs to the loop's thread, and must end before the loop.

#include "flow/loop/detail/cycle_clock.h"
#include "flow/loop/loop.h"
#include "flow/loop/step_watch.h"
#include "flow/memory/allocation_watch.h"
#include "flow/trace/detail/ready_order.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace flow {

class StepProfile final : StepWatch {
public:
    explicit StepProfile(Loop& watched, bool countsAllocations = false);
    StepProfile(StepProfile const&) = delete;
    StepProfile& operator=(StepProfile const&) = delete;
    ~StepProfile();

    /// Returns {"seconds":S, "countsAllocations":BOOL,
    ///  "chains":[{"frames":[OUTERMOST, ..., ACTOR], "steps":N, "seconds":S, "allocations":N}, ...],
    ///  "delays":[{"priority":P, "steps":N, "seconds":S, "longest":S, "below":[N, ...]}, ...]}
    /// The numbers in `below` count the delays of less than 1, from 1 to 2, from 2 to 4, ... microseconds; the last one
    /// counts all longer delays. If a step runs another loop, its seconds do not include the steps of that loop.
    std::string json() const;

private:
    using Codes = std::vector<void const*>; // the actor, then the computations that await it
    struct Spent {
        std::uint64_t steps = 0;
        std::uint64_t ticks = 0;
        std::uint64_t allocations = 0;
    };
    struct Delay {
        std::uint64_t steps = 0;
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
        explicit Allocations(StepProfile& p) : profile(p) {}
        void allocated(void*, void*) noexcept override { ++profile.current().allocations; }
        StepProfile& profile;
    };

    void woken(WaiterNode* waiter, TaskPriority priority, WokenBy) noexcept override;
    void begins(WaiterNode* step, TaskPriority priority) noexcept override;
    void ended() noexcept override;
    void answers(WaiterNode* waiter) noexcept override;
    Spent& chainOf(WaiterNode const* step);
    Spent& current() { return running_.empty() ? outside_ : *running_.back().spent; }

    Loop& loop_;
    mutable CycleClock clock_;
    std::uint64_t began_;
    trace::ReadyOrder<std::uint64_t> ready_; // the times at which waiters became ready
    std::map<Codes, Spent> chains_;
    std::map<TaskPriority, Delay> delays_;
    std::vector<Running> running_;
    Codes chain_; // the chain of the step that begins
    Spent outside_;
    std::optional<Allocations> allocations_;
};

} // namespace flow
