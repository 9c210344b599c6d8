#pragma once
// TimerQueue: waiters in the order of their deadlines; with equal deadlines, in the order of park().
//
//     TimerQueue timers;
//     timers.park(waiter, now + 1.5, TaskPriority::Default);
//     timers.expire(now, TimerQueue::kNoLimit, [&](Waiter* w, TaskPriority p) { ready.push(w, p); });
//
// The queue is a radix heap. The earliest timers are in a sorted list. The others are in buckets, one for each byte
// position in a deadline and each value of that byte. (Doubles that are not negative have the same order as their bits,
// read as integers.) A timer is in a bucket of the first position at which its deadline differs from `base_`, which is
// not after any deadline. When the sorted list is empty, the first bucket is sorted into it. If that bucket is long,
// `base_` becomes the beginning of the bucket instead, and its timers move, in order, to buckets of later positions.
//
// So setting and cancelling a timer take bounded time, however many timers there are. A cancelled timer leaves nothing
// behind. If its deadline was far away, the queue has compared it with few other timers.

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
    /// before the `now` of the last expire(). If park() throws std::bad_alloc, the waiter is not parked.
    void park(Waiter* waiter, double deadline, TaskPriority priority);

    /// True if no timer is set; timers at infinity do not count.
    bool isEmpty() { return soon_.isEmpty() && !hasRest(); }
    /// Returns the earliest deadline, or an earlier time if the search would take long. Returns infinity if no timer is
    /// set.
    double nextDeadline() { return !soon_.isEmpty() ? deadlineOf(soon_.next) : hasRest() ? next_ : kNever; }

    /// Calls `fire(waiter, priority)` for each timer with a deadline not after `now`, in order. Moves timers between
    /// buckets at most `steps` times: if that is not enough, nextDeadline() stays at or before `now`, and the next
    /// expire() continues. A timer moves at most nine times in its life.
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

    /// Calls visit(waiter) for each timer that is set, in no particular order. `visit` must change nothing.
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
    static constexpr int kFew = 16; // the usual maximum of timers in `soon_`
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

    double next_ = kNever;                     // a time not after any deadline
    Key soonEnd_ = std::bit_cast<Key>(kNever); // `soon_` has all timers with earlier deadlines, and may have equal ones
    Link soon_;
    Link redistributing_;       // the timers of the bucket to which `base_` has moved
    Key redistributingEnd_ = 0; // timers with earlier deadlines go to `redistributing_`
    Key base_ = 0;
    int soonSet_ = 0;                        // timers that were set into `soon_` since shortenSoon()
    std::uint64_t used_[kBuckets / 64] = {}; // a bit for each bucket that may have timers
    int firstUsed_ = kBuckets / 64;          // all words of `used_` before this index are 0
    Link buckets_[kBuckets];                 // only buckets with a bit in `used_` are initialised
    Link never_;
};

} // namespace flow::detail
