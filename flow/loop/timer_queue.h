#pragma once
// TimerQueue: waiters by deadline; equal deadlines in the order in which they were set.
//
//     TimerQueue timers;
//     timers.park(waiter, now + 1.5, TaskPriority::Default);
//     timers.expire(now, TimerQueue::kNoLimit, [&](Waiter* w, TaskPriority p) { ready.push(w, p); });
//
// The few that are due soonest are in a sorted list. The others are in lists by the bytes of their deadlines (the bits
// of a double that is not negative are in the order of its values): there is a list for each place and byte, and a
// timer is in that of the first place in which its deadline differs from `base_`, which is not after any of them. When
// the sorted list is empty, the first of these lists follows it; if that is long, `base_` moves to its beginning and
// its timers move on to lists of later places, in their order.
//
// So setting a timer takes a bounded number of steps however many there are, and so does cancelling one, which leaves
// nothing behind. A timer that is cancelled long before its time is compared with hardly any other.

#include "flow/core/frame.h"
#include "flow/loop/priority.h"

#include <bit>
#include <cstdint>
#include <limits>

namespace flow::detail {

class TimerQueue {
public:
    static constexpr int kNoLimit = std::numeric_limits<int>::max();

    TimerQueue();
    TimerQueue(TimerQueue const&) = delete;
    TimerQueue& operator=(TimerQueue const&) = delete;
    ~TimerQueue();

    /// Parks the waiter until the deadline (in seconds of the loop's clock), which must not be negative nor before the
    /// last `now`. Throws std::bad_alloc with the waiter still free.
    void park(Waiter* waiter, double deadline, TaskPriority priority);

    /// Whether there is no timer that has been neither fired nor cancelled, but for those at infinity.
    bool isEmpty() { return soon_.isEmpty() && !hasRest(); }
    /// The earliest deadline or, where finding it would take long, a time before it; infinity if there is none.
    double nextDeadline() { return !soon_.isEmpty() ? deadlineOf(soon_.next) : hasRest() ? next_ : kNever; }

    /// Calls `fire(waiter, priority)` for each timer whose deadline is not after `now`, in order. Moves timers from
    /// list to list at most `steps` times, and a timer at most nine times in its life: where that is not enough,
    /// nextDeadline() is not after `now`, and the next call goes on.
    template <class Fire>
    void expire(double now, int steps, Fire&& fire) {
        while (next_ <= now) {
            if (soon_.isEmpty() && !refill(now, steps))
                return;
            Link* first = soon_.next;
            TimerSlot* slot = slotOf(first);
            next_ = slot->deadline;
            if (next_ > now)
                return;
            first->unlink();
            Waiter* waiter = Waiter::of(first);
            waiter->awaited = {};
            auto priority = static_cast<TaskPriority>(slot->priority);
            FastAllocator<sizeof(TimerSlot)>::release(slot);
            fire(waiter, priority);
        }
    }

    /// Calls visit(waiter) for each timer that has been neither fired nor cancelled, in no order. It changes nothing.
    template <class Visit>
    void forEach(Visit&& visit) const {
        auto visitList = [&](Link const& list) {
            for (Link* link = list.next; link != &list; link = link->next)
                visit(Waiter::of(link));
        };
        visitList(soon_);
        visitList(splitting_);
        visitList(never_);
        for (int list = 0; list < kLists; ++list)
            if (used_[list / 64] >> (list % 64) & 1)
                visitList(lists_[list]);
    }

private:
    using Key = std::uint64_t; // the bits of a deadline

    static constexpr double kNever = std::numeric_limits<double>::infinity();
    static constexpr int kFew = 16; // how many in `soon_` are worth sorting
    static constexpr int kLists = sizeof(Key) * 256;

    static TimerSlot* slotOf(Link* link) { return Waiter::of(link)->awaited.timer(); }
    static double deadlineOf(Link* link) { return slotOf(link)->deadline; }
    static Key keyOf(Link* link) { return std::bit_cast<Key>(deadlineOf(link)); }

    static int shiftOf(int list) { return list / 256 * 8; }
    Key beginOf(int list) const;
    Link& listOf(Key key);
    void insertSoon(Link& link, double deadline);
    void thin();
    bool refill(double now, int& steps);
    void split(int& steps);
    bool hasRest() { return !splitting_.isEmpty() || (firstUsed_ < kLists / 64 && firstList() >= 0); }
    int firstList();
    bool sort(Link& list, int& room);

    double next_ = kNever;                     // not after any deadline
    Key soonEnd_ = std::bit_cast<Key>(kNever); // what is before that is in `soon_`, the rest is not
    Link soon_;
    Link splitting_;       // what was in the list that `base_` has moved to
    Key splittingEnd_ = 0; // what is set before that goes there
    Key base_ = 0;
    int soonSet_ = 0;                      // how many have been set into `soon_` since thin()
    std::uint64_t used_[kLists / 64] = {}; // a bit for each list that may have timers
    int firstUsed_ = kLists / 64;          // of `used_`: those before are 0
    Link lists_[kLists];                   // only those in use are lists
    Link never_;
};

} // namespace flow::detail
