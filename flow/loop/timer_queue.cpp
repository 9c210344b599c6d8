#include "flow/loop/timer_queue.h"

#include "flow/base/assert.h"

#include <algorithm>

namespace flow::detail {

TimerQueue::TimerQueue() {
    for (Link* list : {&soon_, &splitting_, &never_})
        list->reset();
}

TimerQueue::~TimerQueue() {
    auto orphan = [](Link& list) { // parked nowhere from now on, but still parked
        while (!list.isEmpty()) {
            Waiter* waiter = Waiter::of(list.next);
            waiter->link.unlink();
            FastAllocator<sizeof(TimerSlot)>::release(waiter->awaited.timer());
            waiter->awaited = {};
            waiter->link = {&waiter->link, &waiter->link};
        }
    };
    for (Link* list : {&soon_, &splitting_, &never_})
        orphan(*list);
    for (int list; (list = firstList()) >= 0;)
        orphan(lists_[list]);
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
            thin();
    } else if (deadline == kNever) [[unlikely]] {
        pushBack(never_, waiter->link);
    } else if (key < splittingEnd_) {
        pushBack(splitting_, waiter->link);
    } else {
        pushBack(listOf(key), waiter->link);
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

/// Moves the last ones to the others, so that few are left. A count of them would have to be told of each cancel; so
/// they are counted whenever as many have been set. There can be many more only if they have one deadline.
void TimerQueue::thin() {
    soonSet_ = 0;
    int count = 0;
    for (Link* link = soon_.next; link != &soon_ && count < 2 * kFew; link = link->next)
        ++count;
    for (; count > kFew; --count) {
        Link& link = *soon_.prev;
        link.unlink();
        soonEnd_ = keyOf(&link);
        pushFront(listOf(soonEnd_), link); // it was set before others with the same deadline
    }
}

// -------------------------------------------------------------------------------------------------------------------
// The others

/// Where a timer stands that is none of the soonest.
Link& TimerQueue::listOf(Key key) {
    FLOW_ASSERT(key >= base_, "a deadline in the past");
    int shift = (63 - std::countl_zero((key ^ base_) | 1)) & ~7;
    int list = shift / 8 * 256 + static_cast<int>((key >> shift) & 255);
    std::uint64_t& word = used_[list / 64];
    std::uint64_t bit = std::uint64_t{1} << (list % 64);
    if (!(word & bit)) {
        word |= bit;
        firstUsed_ = std::min(firstUsed_, list / 64);
        lists_[list].reset();
    }
    return lists_[list];
}

/// Where the timers of a list begin.
TimerQueue::Key TimerQueue::beginOf(int list) const {
    int shift = shiftOf(list);
    return (base_ >> shift >> 8 << 8 | static_cast<Key>(list % 256)) << shift;
}

/// That with the earliest timers; -1 if there are none.
int TimerQueue::firstList() {
    for (; firstUsed_ < kLists / 64; ++firstUsed_)
        for (std::uint64_t& word = used_[firstUsed_]; word != 0; word &= word - 1) {
            int list = firstUsed_ * 64 + std::countr_zero(word);
            if (!lists_[list].isEmpty())
                return list;
        }
    return -1;
}

/// Moves what is due next to `soon_`. False if that is nothing, with `next_` after `now`, or if no steps are left.
bool TimerQueue::refill(double now, int& steps) {
    for (;;) {
        split(steps);
        if (!soon_.isEmpty())
            return true;
        if (steps <= 0)
            return false;
        int room = kFew;
        int list = firstList();
        while (list >= 0 && sort(lists_[list], room))
            list = firstList();
        steps -= kFew - room;
        soonEnd_ = list >= 0 ? beginOf(list) : std::bit_cast<Key>(kNever);
        if (!soon_.isEmpty())
            return true;
        next_ = std::bit_cast<double>(soonEnd_);
        if (next_ > now)
            return false;
        base_ = soonEnd_;
        splittingEnd_ = base_ + (Key{1} << shiftOf(list));
        splitting_ = lists_[list];
        splitting_.next->prev = splitting_.prev->next = &splitting_;
        lists_[list].reset();
    }
}

/// Moves the timers in `splitting_` to where they stand by the new `base_`, as long as there are steps left.
void TimerQueue::split(int& steps) {
    for (; !splitting_.isEmpty(); --steps) {
        if (steps <= 0)
            return;
        Link& link = *splitting_.next;
        link.unlink();
        Key key = keyOf(&link);
        pushBack(key == base_ ? soon_ : listOf(key), link);
    }
    splittingEnd_ = 0;
}

/// Moves a list to `soon_`; false if there is no room for it.
bool TimerQueue::sort(Link& list, int& room) {
    int count = 0;
    for (Link* link = list.next; link != &list; link = link->next)
        if (++count > room)
            return false;
    while (!list.isEmpty()) {
        Link& link = *list.next;
        link.unlink();
        insertSoon(link, deadlineOf(&link));
    }
    room -= count;
    return true;
}

} // namespace flow::detail
