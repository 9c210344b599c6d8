#pragma once
// TimerQueue: waiters by deadline; equal deadlines in the order in which they were set.
//
//     TimerQueue timers;
//     timers.park(waiter, now + 1.5, TaskPriority::Default);
//     timers.expire(now, [&](Waiter* w, TaskPriority p) { ready.push(w, p); });
//
// A 4-ary heap of (deadline, sequence, slot): the four children of an entry share two cache lines. Cancelling marks
// the slot in O(1); marked entries are dropped when they come up, or all at once when they outnumber the others.

#include "flow/core/frame.h"
#include "flow/loop/priority.h"

#include <cstdint>
#include <vector>

namespace flow::detail {

class TimerQueue {
public:
    TimerQueue() = default;
    TimerQueue(TimerQueue const&) = delete;
    TimerQueue& operator=(TimerQueue const&) = delete;
    ~TimerQueue();

    /// Parks the waiter until the deadline (in seconds of the loop's clock). Throws std::bad_alloc with the waiter
    /// still free.
    void park(Waiter* waiter, double deadline, TaskPriority priority);

    bool isEmpty() {
        dropCancelled();
        return heap_.empty();
    }
    /// The earliest deadline; the queue must not be empty.
    double nextDeadline() {
        dropCancelled();
        return heap_.front().deadline;
    }
    /// Timers that have been neither fired nor cancelled.
    std::size_t size() const { return heap_.size() - cancelled_; }

    /// Calls `fire(waiter, priority)` for each timer whose deadline is not after `now`, in order.
    template <class Fire>
    void expire(double now, Fire&& fire) {
        while (!heap_.empty() && heap_.front().deadline <= now) {
            TimerSlot* slot = heap_.front().slot;
            popFront();
            Waiter* waiter = slot->waiter;
            auto priority = static_cast<TaskPriority>(slot->priority);
            release(slot);
            if (waiter) {
                waiter->awaited = {};
                fire(waiter, priority);
            } else {
                --cancelled_;
            }
        }
    }

private:
    struct Entry {
        double deadline;
        std::uint64_t sequence;
        TimerSlot* slot;
        bool before(Entry const& other) const {
            return deadline < other.deadline || (deadline == other.deadline && sequence < other.sequence);
        }
    };

    static void release(TimerSlot* slot) { FastAllocator<sizeof(TimerSlot)>::release(slot); }
    void dropCancelled();
    void compact();
    void popFront();
    void siftUp(std::size_t hole, Entry entry);
    void siftDown(std::size_t hole, Entry entry);

    std::vector<Entry> heap_;
    std::uint64_t sequence_ = 0;
    std::uint32_t cancelled_ = 0;
};

} // namespace flow::detail
