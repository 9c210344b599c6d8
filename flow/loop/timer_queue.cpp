#include "flow/loop/detail/timer_queue.h"

#include "flow/base/assert.h"

#include <algorithm>

namespace flow::detail {

TimerQueue::TimerQueue() {
    for (Link* bucket : {&soon_, &redistributing_, &never_})
        bucket->reset();
}

TimerQueue::~TimerQueue() {
    auto detach = [](Link& bucket) { // the waiters wait forever, each linked only to itself
        while (!bucket.isEmpty()) {
            Waiter* waiter = Waiter::of(bucket.next);
            waiter->link.unlink();
            FastAllocator<sizeof(TimerSlot)>::release(waiter->awaited.timer());
            waiter->awaited = {};
            waiter->link = {&waiter->link, &waiter->link};
        }
    };
    for (Link* bucket : {&soon_, &redistributing_, &never_})
        detach(*bucket);
    for (int bucket; (bucket = firstBucket()) >= 0;)
        detach(buckets_[bucket]);
}

void TimerQueue::park(Waiter* waiter, double deadline, TaskPriority priority) {
    auto* slot = static_cast<TimerSlot*>(FastAllocator<sizeof(TimerSlot)>::allocate());
    *slot = {deadline, static_cast<std::int32_t>(priority)};
    waiter->awaited = slot;
    auto key = std::bit_cast<Key>(deadline);
    next_ = std::min(next_, deadline);
    if (key < soonEnd_) {
        insertSoon(waiter->link, deadline);
        if (++soonSet_ == kFew)
            shortenSoon();
    } else if (deadline == kNever) [[unlikely]] {
        pushBack(never_, waiter->link);
    } else if (key < redistributingEnd_) {
        pushBack(redistributing_, waiter->link);
    } else {
        pushBack(bucketOf(key), waiter->link);
    }
}

// -------------------------------------------------------------------------------------------------------------------
// The sorted list

void TimerQueue::insertSoon(Link& link, double deadline) {
    if (!soon_.isEmpty() && deadline < deadlineOf(soon_.next))
        return pushFront(soon_, link);
    Link* before = soon_.prev;
    while (before != &soon_ && deadlineOf(before) > deadline)
        before = before->prev;
    insertBetween(*before, link, *before->next);
}

/// Moves timers from the end of `soon_` to buckets, so that about kFew are left. Counts the timers here, after every
/// kFew insertions: a stored number would cost each cancel a write. `soon_` gets long only with equal deadlines.
void TimerQueue::shortenSoon() {
    soonSet_ = 0;
    int count = 0;
    for (Link* link = soon_.next; link != &soon_ && count < 2 * kFew; link = link->next)
        ++count;
    for (; count > kFew; --count) {
        Link& link = *soon_.prev;
        link.unlink();
        soonEnd_ = keyOf(&link);
        pushFront(bucketOf(soonEnd_), link); // set before the timers with an equal deadline there
    }
}

// -------------------------------------------------------------------------------------------------------------------
// The buckets

Link& TimerQueue::bucketOf(Key key) {
    FLOW_ASSERT(key >= base_, "a deadline in the past");
    int shift = (63 - std::countl_zero((key ^ base_) | 1)) & ~7;
    int bucket = shift / 8 * 256 + static_cast<int>((key >> shift) & 255);
    std::uint64_t& word = used_[bucket / 64];
    std::uint64_t bit = std::uint64_t{1} << (bucket % 64);
    if (!(word & bit)) {
        word |= bit;
        firstUsed_ = std::min(firstUsed_, bucket / 64);
        buckets_[bucket].reset();
    }
    return buckets_[bucket];
}

TimerQueue::Key TimerQueue::beginOf(int bucket) const {
    int shift = shiftOf(bucket);
    return (base_ >> shift >> 8 << 8 | static_cast<Key>(bucket % 256)) << shift;
}

/// Returns the bucket with the earliest timers; -1 if all are empty.
int TimerQueue::firstBucket() {
    for (; firstUsed_ < kBuckets / 64; ++firstUsed_)
        for (std::uint64_t& word = used_[firstUsed_]; word != 0; word &= word - 1) {
            int bucket = firstUsed_ * 64 + std::countr_zero(word);
            if (!buckets_[bucket].isEmpty())
                return bucket;
        }
    return -1;
}

/// Moves the timers with the earliest deadlines into `soon_`. Returns false if no timer is due (`next_` is then after
/// `now`) or if no steps are left.
bool TimerQueue::fillSoon(double now, int& steps) {
    for (;;) {
        redistribute(steps);
        if (!soon_.isEmpty())
            return true;
        if (steps <= 0)
            return false;
        int room = kFew;
        int bucket = firstBucket();
        while (bucket >= 0 && sort(buckets_[bucket], room))
            bucket = firstBucket();
        steps -= kFew - room;
        soonEnd_ = bucket >= 0 ? beginOf(bucket) : std::bit_cast<Key>(kNever);
        if (!soon_.isEmpty())
            return true;
        next_ = std::bit_cast<double>(soonEnd_);
        if (next_ > now)
            return false;
        base_ = soonEnd_;
        redistributingEnd_ = base_ + (Key{1} << shiftOf(bucket));
        redistributing_ = buckets_[bucket];
        redistributing_.next->prev = redistributing_.prev->next = &redistributing_;
        buckets_[bucket].reset();
    }
}

/// While steps are left, moves timers from `redistributing_` to `soon_` (if due at `base_`) or to their new buckets.
void TimerQueue::redistribute(int& steps) {
    for (; !redistributing_.isEmpty(); --steps) {
        if (steps <= 0)
            return;
        Link& link = *redistributing_.next;
        link.unlink();
        Key key = keyOf(&link);
        pushBack(key == base_ ? soon_ : bucketOf(key), link);
    }
    redistributingEnd_ = 0;
}

/// Moves all timers of a bucket to `soon_`, and subtracts their number from `room`. If they are more than `room`, moves
/// none and returns false.
bool TimerQueue::sort(Link& bucket, int& room) {
    int count = 0;
    for (Link* link = bucket.next; link != &bucket; link = link->next)
        if (++count > room)
            return false;
    while (!bucket.isEmpty()) {
        Link& link = *bucket.next;
        link.unlink();
        insertSoon(link, deadlineOf(&link));
    }
    room -= count;
    return true;
}

} // namespace flow::detail
