#include "flow/loop/timer_queue.h"

#include <algorithm>

namespace flow::detail {

TimerQueue::~TimerQueue() {
    for (Entry const& entry : heap_) {
        if (Waiter* waiter = entry.slot->waiter) { // parked nowhere from now on, but still parked
            waiter->awaited = {};
            waiter->link = {&waiter->link, &waiter->link};
        }
        release(entry.slot);
    }
}

void TimerQueue::park(Waiter* waiter, double deadline, TaskPriority priority) {
    if (cancelled_ > 64 && cancelled_ > heap_.size() / 2)
        compact();
    heap_.reserve(heap_.size() < heap_.capacity() ? 0 : std::max<std::size_t>(64, heap_.size() * 2));
    auto* slot = static_cast<TimerSlot*>(FastAllocator<sizeof(TimerSlot)>::allocate());
    *slot = {waiter, &cancelled_, static_cast<std::int32_t>(priority)};
    waiter->awaited = slot;
    heap_.emplace_back();
    siftUp(heap_.size() - 1, {deadline, sequence_++, slot});
}

void TimerQueue::dropCancelled() {
    while (!heap_.empty() && heap_.front().slot->waiter == nullptr) {
        release(heap_.front().slot);
        popFront();
        --cancelled_;
    }
}

void TimerQueue::compact() {
    std::erase_if(heap_, [](Entry const& entry) {
        if (entry.slot->waiter)
            return false;
        release(entry.slot);
        return true;
    });
    cancelled_ = 0;
    for (std::size_t i = heap_.size() / 4 + 1; i-- > 0;)
        if (i < heap_.size())
            siftDown(i, heap_[i]);
}

void TimerQueue::popFront() {
    Entry last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty())
        siftDown(0, last);
}

void TimerQueue::siftUp(std::size_t hole, Entry entry) {
    while (hole > 0) {
        std::size_t parent = (hole - 1) / 4;
        if (!entry.before(heap_[parent]))
            break;
        heap_[hole] = heap_[parent];
        hole = parent;
    }
    heap_[hole] = entry;
}

void TimerQueue::siftDown(std::size_t hole, Entry entry) {
    for (;;) {
        std::size_t child = hole * 4 + 1;
        if (child >= heap_.size())
            break;
        std::size_t end = std::min(child + 4, heap_.size());
        std::size_t least = child;
        for (std::size_t i = child + 1; i < end; ++i)
            if (heap_[i].before(heap_[least]))
                least = i;
        if (!heap_[least].before(entry))
            break;
        heap_[hole] = heap_[least];
        hole = least;
    }
    heap_[hole] = entry;
}

} // namespace flow::detail
