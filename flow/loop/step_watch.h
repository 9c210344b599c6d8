#pragma once
// StepWatch: an interface that a loop calls at each step, and when a step becomes ready.
//
//     struct Count final : StepWatch {
//         void begins(WaiterNode*, TaskPriority) noexcept override { ++steps; }
//         int steps = 0;
//     } count;
//     loop.add(count);                 // from the next turn on
//     loop.remove(count);              // at any time, also by a step
//
// A loop may have any number of watches. Without watches there is no cost; with one, the loop checks its ready queue
// after each step. A watch must exist until it is removed. A watch belongs to the loop's thread.

#include "flow/base/inline.h"
#include "flow/core/in_place.h"
#include "flow/loop/detail/ready_queue.h"
#include "flow/loop/detail/step_ring.h"

#include <memory>
#include <utility>
#include <vector>

namespace flow {

class StepWatch {
public:
    virtual void turnBegins() noexcept {}
    virtual void turnEnds() noexcept {}
    /// Called after a step, or another cause of wake-ups, for each waiter that is new in the ready queue. The waiter is
    /// behind the waiters of its priority that were reported before.
    virtual void woken(WaiterNode*, TaskPriority, WokenBy) noexcept {}
    /// Called before and after each step. If a step runs the loop itself, other steps begin and end inside that step.
    virtual void begins(WaiterNode* step, TaskPriority) noexcept = 0;
    virtual void ended() noexcept {}
    /// Called before and after each sleep at the poller.
    virtual void sleeps() noexcept {}
    virtual void wakes() noexcept {}
    /// Called in a step that brings the answer of another thread, before the answer resumes this waiter.
    virtual void answers(WaiterNode*) noexcept {}

protected:
    StepWatch() = default;
    StepWatch(StepWatch const&) = delete;
    StepWatch& operator=(StepWatch const&) = delete;
    ~StepWatch() = default;
};

namespace detail {

/// The watches and rings of a loop. In each ready list, a mark separates reported waiters from the new ones behind it.
/// A mark is a waiter that the loop never runs: it is linked only while the list has other waiters, or a step runs.
class StepWatches {
public:
    explicit StepWatches(ReadyQueue& ready) : ready_(ready) {}
    StepWatches(StepWatches const&) = delete;
    StepWatches& operator=(StepWatches const&) = delete;
    ~StepWatches();

    void add(StepWatch& watch) { watches_.push_back({&watch, 0}); }
    void add(StepRing& ring) { ring.next_ = std::exchange(first_, &ring); }
    void remove(StepWatch& watch) {
        std::erase_if(watches_, [&](Entry const& each) { return each.watch == &watch; });
    }
    void remove(StepRing& ring) {
        for (StepRing** place = &first_; *place; place = &(*place)->next_)
            if (*place == &ring) {
                *place = ring.next_;
                return ring.removed();
            }
    }
    /// True if this object can be deleted: no watch, no ring, and no turn under way.
    bool isIdle() const { return watches_.empty() && !first_ && turns_ == 0; }

    void turnBegins() noexcept {
        ++turns_;
        for (StepRing* ring = first_; ring; ring = ring->next_)
            ring->turnBegins();
        forEach([](Entry const& each) { each.watch->turnBegins(); });
    }
    void turnEnds() noexcept {
        --turns_;
        for (StepRing* ring = first_; ring; ring = ring->next_)
            ring->turnEnds();
        forEach([](Entry const& each) { each.watch->turnEnds(); });
    }
    /// Reports the waiters that have become ready since the last call. Afterwards no mark is first in its list.
    FLOW_INLINE void woken(WokenBy by) noexcept {
        int level = ready_.onlyLevel();
        if (level >= 0) [[likely]]
            wokenOf(ready_.listOf(level), level, by);
        else
            wokenOfSeveral(by);
    }
    FLOW_INLINE void begins(Waiter* step, TaskPriority priority) noexcept {
        for (StepRing* ring = first_; ring; ring = ring->next_)
            ring->begins(step, priority);
        forEach([&](Entry& each) {
            ++each.steps;
            each.watch->begins(step, priority);
        });
    }
    FLOW_INLINE void ended() noexcept {
        for (StepRing* ring = first_; ring; ring = ring->next_)
            ring->ended();
        forEach([](Entry& each) {
            if (each.steps == 0) // the step began before the watch was added
                return;
            --each.steps;
            each.watch->ended();
        });
    }
    void answers(Waiter* waiter) noexcept;
    void sleeps() noexcept;
    void wakes() noexcept;

private:
    struct Entry {
        StepWatch* watch;
        int steps; // steps that began while the watch was there, and have not ended
    };
    struct Mark {
        Mark(int l) : level(l) { waiter.owner = &waiter; }
        int level;
        Waiter waiter{[](Waiter*) {}, {nullptr}, {nullptr, nullptr}, {}};
    };

    FLOW_INLINE void wokenOf(Link& list, int level, WokenBy by) noexcept {
        Link& mark = markOf(level);
        if (list.prev == &mark) {
            if (list.next == &mark)
                mark.unlink();
            return;
        }
        bool isMarked = mark.isLinked();
        for (Link* link = isMarked ? mark.next : list.next; link != &list; link = link->next) {
            for (StepRing* ring = first_; ring; ring = ring->next_)
                ring->woken(Waiter::of(link), by);
            forEach(
                [&](Entry const& each) { each.watch->woken(Waiter::of(link), static_cast<TaskPriority>(level), by); });
        }
        if (isMarked)
            mark.unlink();
        if (!list.isEmpty())
            pushBack(list, mark);
    }
    void wokenOfSeveral(WokenBy by) noexcept;
    Link& markOf(int level) {
        if (last_ && last_->level == level) [[likely]]
            return last_->waiter.link;
        return findMark(level);
    }
    Link& findMark(int level);
    // Uses an index: a watch may add and remove watches when it is called.
    template <class Call>
    void forEach(Call&& call) noexcept {
        for (std::size_t i = 0; i < watches_.size(); ++i)
            call(watches_[i]);
    }

    ReadyQueue& ready_;
    StepRing* first_ = nullptr; // the head of the list of rings
    std::vector<Entry> watches_;
    int turns_ = 0;                            // turns under way; more than one if a step runs its loop
    std::vector<std::unique_ptr<Mark>> marks_; // few: one for each priority
    Mark* last_ = nullptr;                     // the last result of markOf()
};

} // namespace detail
} // namespace flow
