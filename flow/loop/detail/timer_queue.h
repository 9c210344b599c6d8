#pragma once
// TimerQueue: waiters in the order of their deadlines, or, if deadlines are equal, in the order in which they parked.
//
//     TimerQueue timers;
//     timers.park(waiter, now + 1.5, TaskPriority::Default);
//     timers.expire(now, TimerQueue::kNoLimit, [&](Waiter* w, TaskPriority p) { ready.push(w, p); });
//
// The queue is a radix heap. The timers that are due soonest are in a sorted list. The others are in buckets, one for
// each position of a byte in a deadline and each value of that byte. (The bits of doubles that are not negative, read
// as integers, have the same order as the doubles.) A timer is in a bucket of the first position at which its deadline
// differs from `base_`. No deadline is before `base_`. When the sorted list is empty, the timers of the first bucket
// are sorted into it. If that bucket is long, `base_` becomes the beginning of the bucket instead, and the timers of
// the bucket move, in their order, to buckets of later positions.
//
// So to set or to cancel a timer takes a bounded number of steps, however many timers there are. A timer that is
// cancelled leaves nothing behind. If it is cancelled long before its deadline, it has been compared with few others.

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

    /// Parks the waiter until the deadline, in seconds of the loop's clock. The deadline must not be negative, nor
    /// before the `now` of the last expire(). If park() throws std::bad_alloc, the waiter is parked nowhere.
    void park(Waiter* waiter, double deadline, TaskPriority priority);

    /// True if all timers have fired or were cancelled; timers at infinity do not count.
    bool isEmpty() { return soon_.isEmpty() && !hasRest(); }
    /// Returns the earliest deadline, or an earlier time if the search would take long. Without timers: infinity.
    double nextDeadline() { return !soon_.isEmpty() ? deadlineOf(soon_.next) : hasRest() ? next_ : kNever; }

    /// Calls `fire(waiter, priority)` for each timer with a deadline not after `now`, in order. Moves timers from
    /// bucket to bucket at most `steps` times. If that is not enough, nextDeadline() stays at `now` or before, and the
    /// next call of expire() continues. A timer moves at most nine times in its life.
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

    /// Calls visit(waiter) for each timer that is still set, in no particular order. `visit` must change nothing.
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
    static constexpr int kFew = 16; // the number of timers that `soon_` usually has at most
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
    Key soonEnd_ = std::bit_cast<Key>(kNever); // timers with an earlier deadline are in `soon_`, no others
    Link soon_;
    Link redistributing_;       // the timers of the bucket to which `base_` has moved
    Key redistributingEnd_ = 0; // timers with an earlier deadline go to `redistributing_`
    Key base_ = 0;
    int soonSet_ = 0;                        // timers that have been set into `soon_` since shortenSoon()
    std::uint64_t used_[kBuckets / 64] = {}; // a bit for each bucket that may have timers
    int firstUsed_ = kBuckets / 64;          // the words of `used_` before this one are 0
    Link buckets_[kBuckets];                 // only those with a bit in `used_` are initialised
    Link never_;
};

} // namespace flow::detail
