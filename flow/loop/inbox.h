#pragma once
// Inbox: how other threads reach a loop. Any thread puts waiters in, the loop's own thread takes them out, in order.
//
//     if (inbox.put(waiter))      // any thread
//         inbox.wake();           // the owner sleeps
//     inbox.takeAll(consume);     // the owner, once a turn
//
// Lock-free: a put is one compare-and-swap. The owner is woken, by a write to an eventfd, only when it sleeps. Until it
// first sleeps there is no eventfd. In a child of fork() it makes one of its own, so that parent and child do not take
// each other's wake-ups.

#include "flow/core/frame.h"

#include <atomic>

namespace flow::detail {

/// Has cache lines of its own: others write here while the owner runs its tasks.
class alignas(64) Inbox {
public:
    Inbox() = default;
    Inbox(Inbox const&) = delete;
    Inbox& operator=(Inbox const&) = delete;
    ~Inbox();

    /// Any thread: puts in a waiter that is parked nowhere; `link.prev` is left alone until it is taken. True if the
    /// owner sleeps, so that the caller must call wake().
    bool put(Waiter* waiter) noexcept {
        Link* top = top_.load(std::memory_order_relaxed);
        do
            waiter->link.next = top == asleep() ? nullptr : top;
        while (!top_.compare_exchange_weak(top, &waiter->link, std::memory_order_acq_rel, std::memory_order_relaxed));
        return top == asleep();
    }
    /// Any thread. The owner may be gone by then if what was put in has ended it: the caller sees to it that it is not.
    void wake() noexcept;

    /// Owner: whether takeAll() would find anything.
    bool isEmpty() const { return top_.load(std::memory_order_relaxed) == nullptr; }
    /// Owner: calls consume(waiter) for each, oldest first.
    template <class Consume>
    void takeAll(Consume&& consume) {
        Link* link = oldestFirst(top_.exchange(nullptr, std::memory_order_acquire));
        while (link) {
            Waiter* waiter = Waiter::of(link);
            link = link->next;
            consume(waiter);
        }
    }

    /// Owner: sleeps until something is put in, or for `seconds`; infinity is allowed. Throws platform_error if there
    /// is no file descriptor to sleep at.
    void sleep(double seconds);

private:
    /// What `top_` is while the owner sleeps.
    Link* asleep() { return &asleep_; }
    static Link* oldestFirst(Link* newest);

    std::atomic<Link*> top_{nullptr}; // newest first, by `next`
    Link asleep_{};
    int event_ = -1;
    std::uint32_t forks_ = 0; // of the process that made the eventfd
};

} // namespace flow::detail
