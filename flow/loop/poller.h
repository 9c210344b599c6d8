#pragma once
// Poller: the object in which a loop sleeps, and from which the loop gets news from the kernel, such as input.
//
//     poller.prepare();              // the loop: may fail, nothing has happened yet
//     poller.wait(seconds);          // the loop: until there is news, wake(), or the time is over
//     poller.wake();                 // any thread, or a signal handler: ends the sleep
//     poller.takeWake();             // the loop: if wake() has been called, or is about to be
//
// A RealLoop sleeps in its EventPoller, which has no news, until usePoller() gives the loop another poller.
//
// A poller puts waiters, or an object that will resume them, into the loop's ready queue. It never resumes a waiter
// inside wait(): a coroutine that wait() resumes could complete the future for which run() waits, and the loop would
// then sleep although run() must return.

#include <cstdint>

namespace flow {

class Poller {
public:
    Poller() = default;
    Poller(Poller const&) = delete;
    Poller& operator=(Poller const&) = delete;
    virtual ~Poller() = default;

    /// Called by the loop before wait(), and before others may call wake(). In a child of fork(), prepare() replaces
    /// descriptors that would be shared with the parent. Throws platform_error if the kernel gives no descriptor.
    virtual void prepare() = 0;
    /// Checks for news. If there is none, sleeps for at most `seconds`: infinity is allowed, and 0 only checks. A
    /// signal may end the sleep early.
    virtual void wait(double seconds) noexcept = 0;
    /// Ends a wait(), or the next one. Any thread and any signal handler may call it, once for each takeWake().
    virtual void wake() noexcept = 0;
    /// Called by the loop when another thread has called wake() or will call it within a few instructions. Waits for
    /// this call of wake(). A later call could come after the end of this object, or end the next sleep.
    virtual void takeWake() noexcept = 0;
    /// True if a waiter waits for news: then the loop does not end for lack of work.
    virtual bool isWaitedFor() { return false; }
    /// True if wait(0) could find news. If not, a busy loop does not call wait(0).
    virtual bool isUsed() const { return false; }
};

/// A poller without news: the loop sleeps at an eventfd, which is made when it is first needed.
class EventPoller final : public Poller {
public:
    ~EventPoller() override;

    void prepare() override;
    void wait(double seconds) noexcept override;
    void wake() noexcept override;
    void takeWake() noexcept override;

    /// Returns the eventfd, to be registered elsewhere. Valid after prepare(), until the process forks.
    int descriptor() const { return event_; }
    /// True if prepare() would make a descriptor: there is none, or fork() has copied the descriptor of the parent.
    bool needsDescriptor() const;

private:
    int event_ = -1;
    std::uint32_t forks_ = 0; // the forkCount() of the process that made the eventfd
};

} // namespace flow
