#pragma once
// TimerQueue: waiters by deadline; equal deadlines in the order in which they were set.
//
//     TimerQueue timers;
//     timers.park(waiter, now + 1.5, TaskPriority::Default);
//     timers.expire(now, TimerQueue::kNoLimit, [&](Waiter* w, TaskPriority p) { ready.push(w, p); });
//
// A radix heap. The timers that are due soonest are in a sorted list. The others are in buckets by the bytes of their
// deadlines (the bits of a double that is not negative are in the order of its values). There is a bucket for each
// place of a byte and each value of that byte. A timer is in a bucket of the first place at which its deadline differs
// from `base_`. No deadline is before `base_`. When the sorted list is empty, the first bucket is sorted into it. A
// long bucket is redistributed instead: `base_` becomes the beginning of the bucket, and its timers move to buckets of
// later places, in their order.
//
// So setting a timer takes a bounded number of steps, however many timers there are. Cancelling one does too, and
// leaves nothing behind. A timer that is cancelled long before its deadline is compared with few others.

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
    /// last `now`. If it throws std::bad_alloc, the waiter is parked nowhere.
    void park(Waiter* waiter, double deadline, TaskPriority priority);

    /// True if all timers have fired or were cancelled; timers at infinity do not count.
    bool isEmpty() { return soon_.isEmpty() && !hasRest(); }
    /// Returns the earliest deadline or, if finding it would take long, a time before it; infinity if there is none.
    double nextDeadline() { return !soon_.isEmpty() ? deadlineOf(soon_.next) : hasRest() ? next_ : kNever; }

    /// Calls `fire(waiter, priority)` for each timer with a deadline not after `now`, in order. Moves timers from
    /// bucket to bucket at most `steps` times; if that is not enough, nextDeadline() is not after `now`, and the next
    /// call continues. A timer moves at most nine times in its life.
    template <class Fire>
    void expire(double now, int steps, Fire&& fire) {
        while (next_ <= now) {
            if (soon_.isEmpty() && !fillSoon(now, steps))
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

    /// Calls visit(waiter) for each timer that was neither fired nor cancelled, in no order. `visit` changes nothing.
    template <class Visit>
    void forEach(Visit&& visit) const {
        auto visitList = [&](Link const& list) {
            for (Link* link = list.next; link != &list; link = link->next)
                visit(Waiter::of(link));
        };
        visitList(soon_);
        visitList(redistributing_);
        visitList(never_);
        for (int bucket = 0; bucket < kBuckets; ++bucket)
            if (used_[bucket / 64] >> (bucket % 64) & 1)
                visitList(buckets_[bucket]);
    }

private:
    using Key = std::uint64_t; // the bits of a deadline

    static constexpr double kNever = std::numeric_limits<double>::infinity();
    static constexpr int kFew = 16; // the number of timers in `soon_` that are worth sorting
    static constexpr int kBuckets = sizeof(Key) * 256;

    static TimerSlot* slotOf(Link* link) { return Waiter::of(link)->awaited.timer(); }
    static double deadlineOf(Link* link) { return slotOf(link)->deadline; }
    static Key keyOf(Link* link) { return std::bit_cast<Key>(deadlineOf(link)); }

    static int shiftOf(int bucket) { return bucket / 256 * 8; }
    Key beginOf(int bucket) const;
    Link& bucketOf(Key key);
    void insertSoon(Link& link, double deadline);
    void shortenSoon();
    bool fillSoon(double now, int& steps);
    void redistribute(int& steps);
    bool hasRest() { return !redistributing_.isEmpty() || (firstUsed_ < kBuckets / 64 && firstBucket() >= 0); }
    int firstBucket();
    bool sort(Link& bucket, int& room);

    double next_ = kNever;                     // not after any deadline
    Key soonEnd_ = std::bit_cast<Key>(kNever); // earlier timers are in `soon_`, all others are not
    Link soon_;
    Link redistributing_;       // the timers of the bucket to which `base_` has moved
    Key redistributingEnd_ = 0; // timers that are set before it go to `redistributing_`
    Key base_ = 0;
    int soonSet_ = 0;                        // timers that have been set into `soon_` since shortenSoon()
    std::uint64_t used_[kBuckets / 64] = {}; // a bit for each bucket that may have timers
    int firstUsed_ = kBuckets / 64;          // the words of `used_` before this one are 0
    Link buckets_[kBuckets];                 // only those in use are buckets
    Link never_;
};

} // namespace flow::detail
