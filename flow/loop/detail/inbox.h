#pragma once
// Inbox: the queue through which other threads reach a loop. The loop's thread is the owner.
//
//     if (inbox.put(waiter))      // any thread
//         poller.wake();          // the owner sleeps
//     inbox.takeAll(consume);     // the owner, once a turn
//     if (inbox.fallAsleep()) {   // the owner, without ready steps
//         poller.wait(seconds);
//         if (!inbox.wakeUp())
//             poller.takeWake();
//     }
//
// An Inbox is lock-free: put() is one compare-and-swap. A system call must wake the owner only if put() returns true.

#include "flow/core/frame.h"

#include <atomic>

namespace flow::detail {

/// Aligned to its own cache lines, because other threads write to the Inbox while the owner runs its steps.
class alignas(64) Inbox {
public:
    Inbox() = default;
    Inbox(Inbox const&) = delete;
    Inbox& operator=(Inbox const&) = delete;

    /// Any thread: puts in a waiter that is parked nowhere. `link.prev` stays unchanged until the waiter is taken out.
    /// True if the owner sleeps: then the caller must wake it. The waiter may run before put() returns, and may destroy
    /// the owner. So keep the owner alive until put() has returned and the owner is awake.
    bool put(Waiter* waiter) noexcept {
        Link* top = top_.load(std::memory_order_relaxed);
        do
            waiter->link.next = top == asleep() ? nullptr : top;
        while (!top_.compare_exchange_weak(top, &waiter->link, std::memory_order_acq_rel, std::memory_order_relaxed));
        return top == asleep();
    }
    /// Any thread: prevents the owner from sleeping on. True if the owner sleeps: then the caller must wake it.
    bool rouse() noexcept {
        Link* sleeps = asleep();
        return top_.compare_exchange_strong(sleeps, nullptr, std::memory_order_seq_cst);
    }

    bool isEmpty() const { return top_.load(std::memory_order_relaxed) == nullptr; }
    /// Owner: calls consume(waiter) for each waiter, oldest first.
    template <class Consume>
    void takeAll(Consume&& consume) {
        Link* link = oldestFirst(top_.exchange(nullptr, std::memory_order_acquire));
        while (link) {
            Waiter* waiter = Waiter::of(link);
            link = link->next;
            consume(waiter);
        }
    }

    /// Owner: marks the owner as asleep. Returns false, without a mark, if the inbox has a waiter.
    bool fallAsleep() noexcept {
        Link* nothing = nullptr;
        // Needs release: a thread that reads the mark must also see the prepared poller.
        return top_.compare_exchange_strong(nothing, asleep(), std::memory_order_seq_cst);
    }
    /// Owner, after fallAsleep(): removes the mark. Returns false if another thread has removed it and wakes the owner.
    bool wakeUp() noexcept {
        Link* still = asleep();
        return top_.compare_exchange_strong(still, nullptr, std::memory_order_relaxed);
    }

private:
    /// Returns the mark: the value of `top_` while the owner sleeps.
    Link* asleep() { return &asleep_; }
    static Link* oldestFirst(Link* newest);

    std::atomic<Link*> top_{nullptr}; // the newest waiter; `next` leads to older waiters
    Link asleep_{};
};

} // namespace flow::detail
