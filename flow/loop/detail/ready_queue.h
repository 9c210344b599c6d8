#pragma once
// ReadyQueue: the waiters that can run, most urgent first. Waiters of one priority run first in, first out. push() and
// pop() take constant time: a bitmap of three levels finds the highest list that is not empty.
//
//     ReadyQueue queue;
//     queue.push(waiter, TaskPriority::Default);
//     while (Waiter* next = queue.pop()) run(next);      // queue.priority(): the priority of `next`
//
// A waiter in the queue may be unlinked at any time; pop() skips lists that became empty this way.

#include "flow/core/frame.h"
#include "flow/loop/priority.h"

#include <cstdint>
#include <cstdlib>
#include <new>

namespace flow::detail {

/// True if the waiter is not a step, but marks a place in the queue (see StepWatches). Only a mark is its own owner.
inline bool isMark(Waiter const* waiter) {
    return waiter->owner == waiter;
}

class ReadyQueue {
public:
    static constexpr int kPriorities = 65536;

    /// Reserves 1 MiB of address space for the lists. calloc() does not touch the pages. A list with
    /// a Link of zeros has not been used yet. So only the pages of used priorities take memory.
    ReadyQueue() : lists_(static_cast<Link*>(std::calloc(kPriorities, sizeof(Link)))) {
        if (!lists_)
            throw std::bad_alloc();
    }
    ~ReadyQueue() { std::free(lists_); }
    ReadyQueue(ReadyQueue const&) = delete;
    ReadyQueue& operator=(ReadyQueue const&) = delete;

    /// Returns the priority of the waiter that pop() returned last.
    int priority() const { return priority_; }

    void push(Waiter* waiter, TaskPriority priority) {
        int level = levelOf(priority);
        Link& list = lists_[level];
        if (!list.prev) [[unlikely]]
            open(level);
        pushBack(list, waiter->link);
    }

    /// Unlinks and returns the most urgent waiter; null when nothing is ready.
    Waiter* pop() {
        for (int level = highest_; level >= 0; level = highest_) {
            Link& list = lists_[level];
            Link* first = list.next;
            if (first != &list) [[likely]] {
                first->unlink(); // the empty list stays in use until the next pop(): often it is refilled
                priority_ = level;
                return Waiter::of(first);
            }
            clear(level);
        }
        return nullptr;
    }

    /// Returns the first waiter of that priority without unlinking it; null if none is ready.
    Waiter* first(TaskPriority priority) const {
        Link& list = lists_[levelOf(priority)];
        return list.prev && !list.isEmpty() ? Waiter::of(list.next) : nullptr;
    }

    bool isEmpty() {
        for (; highest_ >= 0; clear(highest_))
            if (!lists_[highest_].isEmpty())
                return false;
        return true;
    }

    /// True if a list above `priority` is in use. A list that became empty is in use until pop() reaches it.
    bool hasMoreUrgentThan(int priority) const { return highest_ > priority; }

    /// Calls visit(waiter, priority) for each waiter, the most urgent first. `visit` must change nothing.
    template <class Visit>
    void forEach(Visit&& visit) const {
        for (int level = highest_; level >= 0; --level) {
            Link const& list = lists_[level];
            if (!list.prev)
                continue;
            for (Link* link = list.next; link != &list; link = link->next)
                visit(Waiter::of(link), level);
        }
    }

    /// Calls visit(list, priority) for each list in use, the most urgent first. `visit` may unlink and append waiters.
    template <class Visit>
    void forEachList(Visit&& visit) {
        for (std::uint64_t groups = top_; groups != 0; groups &= ~(std::uint64_t{1} << topBit(groups))) {
            int group = topBit(groups);
            for (std::uint64_t words = groups_[group]; words != 0; words &= ~(std::uint64_t{1} << topBit(words))) {
                int word = (group << 6) | topBit(words);
                for (std::uint64_t bits = words_[word]; bits != 0; bits &= ~(std::uint64_t{1} << topBit(bits))) {
                    int level = (word << 6) | topBit(bits);
                    visit(lists_[level], level);
                }
            }
        }
    }

    /// Returns the priority of the list in use if there is exactly one, else -1.
    int onlyLevel() const {
        if (highest_ < 0)
            return -1;
        std::uint64_t word = words_[highest_ >> 6], group = groups_[highest_ >> 12];
        return ((word & (word - 1)) | (group & (group - 1)) | (top_ & (top_ - 1))) == 0 ? highest_ : -1;
    }
    Link& listOf(int level) { return lists_[level]; }

    static int levelOf(TaskPriority priority) {
        int level = static_cast<int>(priority);
        if (level < 0 || level >= kPriorities) [[unlikely]]
            return level < 0 ? 0 : kPriorities - 1;
        return level;
    }

    /// Takes out every waiter and links it to itself, so that a later unlink() is harmless. Destroys posted calls.
    void detachAll() {
        while (Waiter* waiter = pop())
            if (waiter->awaited.isTurn())
                waiter->destroy(waiter);
            else
                waiter->link = {&waiter->link, &waiter->link};
    }

private:
    static int topBit(std::uint64_t word) { return 63 - __builtin_clzll(word); }

    /// Takes a list into use: its `prev` is not null from then on.
    FLOW_INLINE void open(int level) {
        lists_[level].reset();
        words_[level >> 6] |= std::uint64_t{1} << (level & 63);
        groups_[level >> 12] |= std::uint64_t{1} << ((level >> 6) & 63);
        top_ |= 1u << (level >> 12);
        if (level > highest_)
            highest_ = level;
    }
    /// Takes the highest list in use out of use.
    void clear(int level) {
        lists_[level].prev = nullptr;
        words_[level >> 6] &= ~(std::uint64_t{1} << (level & 63));
        if (words_[level >> 6] == 0) {
            groups_[level >> 12] &= ~(std::uint64_t{1} << ((level >> 6) & 63));
            if (groups_[level >> 12] == 0)
                top_ &= ~(1u << (level >> 12));
        }
        highest_ = highest();
    }
    int highest() const {
        if (top_ == 0)
            return -1;
        int group = topBit(top_);
        int word = (group << 6) | topBit(groups_[group]);
        return (word << 6) | topBit(words_[word]);
    }

    std::uint32_t top_ = 0; // a bit for each non-zero element of groups_
    int priority_ = 0;
    int highest_ = -1;                           // the highest list in use, or -1
    std::uint64_t groups_[16] = {};              // a bit for each non-zero element of words_
    std::uint64_t words_[kPriorities / 64] = {}; // a bit for each list in use
    Link* lists_;
};

} // namespace flow::detail
