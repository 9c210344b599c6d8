#pragma once
// StepRing: the last events of a loop, in a ring of fixed size. The loop writes it inline, which is faster than a
// StepWatch (flow/loop/step_watch.h). The derived class trace::StepLog makes a trace of the events.
//
// A step costs one event and one read of the clock (CycleClock): the end of a step is also the beginning of the next
// one. Each wake-up costs one event and no read. The cause of a step is the last wake-up of its waiter before that
// step.

#include "flow/core/in_place.h"
#include "flow/loop/detail/cycle_clock.h"
#include "flow/loop/priority.h"

#include <algorithm>
#include <bit>

#include <cstdint>
#include <utility>
#include <vector>

namespace flow {

/// The cause that made a waiter ready: a step, a timer, a post of another thread, or other code, such as the poller.
enum class WokenBy : std::uint8_t { Step, Timer, Post, News };

namespace detail {
class StepWatches;
}

class StepRing {
public:
    StepRing(StepRing const&) = delete;
    StepRing& operator=(StepRing const&) = delete;

protected:
    friend class detail::StepWatches;

    enum class Kind : std::uint8_t { Begin, End, Woken, Failed, Cancelled, Mark, Fault };
    struct Event {
        std::uint64_t time;  // of a Woken event by a step: when that step ended
        void const* what;    // the code of the step, or a text
        WaiterNode* waiter;  // the step, or the waiter that was woken
        std::uint16_t value; // the priority, cause or error code
        Kind kind;
        std::uint8_t depth; // the number of running steps. Begin and End also end all steps at this depth or deeper
    };
    static_assert(sizeof(Event) == 32);
    /// A function that returns the code address to show for a step.
    using CodeOf = void const*(WaiterNode const*) noexcept;

    /// Makes a ring of at most `bytes` bytes, but at least 16 events. `clock` must outlive it. Throws std::bad_alloc.
    StepRing(std::size_t bytes, CycleClock& clock, CodeOf& codeOf)
        : clock_(clock), codeOf_(codeOf), events_(std::bit_floor(std::max<std::size_t>(bytes / sizeof(Event), 16))),
          first_(events_.data()), mask_(events_.size() - 1) {}
    ~StepRing() = default;

    void put(Kind kind, void const* what, int value) noexcept { put(kind, clock_.now(), what, nullptr, value); }
    /// Returns all events, oldest first. Adds an End if a step is running, or if the last End is not written yet.
    std::vector<Event> inOrder() const {
        std::vector<Event> all;
        for (std::uint64_t i = count_ > events_.size() ? count_ - events_.size() : 0; i < count_; ++i)
            all.push_back(events_[i & (events_.size() - 1)]);
        if (depth_ != 0 || isOpen_)
            all.push_back({isOpen_ ? time_ : clock_.now(), nullptr, nullptr, 0, Kind::End, 0});
        return all;
    }

    CycleClock& clock_;

private:
    void put(Kind kind, std::uint64_t time, void const* what, WaiterNode* waiter, int value) noexcept {
        first_[count_++ & mask_] = {
            time, what, waiter, static_cast<std::uint16_t>(value), kind, static_cast<std::uint8_t>(depth_)};
    }
    std::uint64_t freshTime() noexcept {
        if (!std::exchange(isFresh_, true))
            time_ = clock_.now();
        return time_;
    }

    void turnBegins() noexcept { isFresh_ = false; }
    void turnEnds() noexcept {
        if (std::exchange(isOpen_, false))
            put(Kind::End, time_, nullptr, nullptr, 0);
    }
    void woken(WaiterNode* waiter, WokenBy by) noexcept {
        put(Kind::Woken, freshTime(), nullptr, waiter, static_cast<int>(by));
    }
    void begins(WaiterNode* step, TaskPriority priority) noexcept {
        put(Kind::Begin, freshTime(), codeOf_(step), step, static_cast<int>(priority));
        ++depth_;
        isFresh_ = isOpen_ = false;
    }
    void ended() noexcept {
        if (depth_ == 0) // the step began before the ring was added
            return;
        --depth_;
        time_ = clock_.now();
        isFresh_ = isOpen_ = true;
    }
    /// Called when the ring is removed from its loop. The end of a running step will not be reported.
    void removed() noexcept {
        if (depth_ == 0)
            return turnEnds();
        depth_ = 0;
        isOpen_ = false;
        put(Kind::End, nullptr, 0);
    }

    StepRing* next_ = nullptr; // the next ring of the same loop
    CodeOf& codeOf_;
    std::vector<Event> events_; // the number of events is a power of two
    Event* const first_;
    std::uint64_t const mask_;
    std::uint64_t count_ = 0;
    std::uint64_t time_ = 0;
    bool isFresh_ = false; // nothing has run since time_
    bool isOpen_ = false;  // the last step ended at time_, and its End is not written yet
    int depth_ = 0;
};

} // namespace flow
