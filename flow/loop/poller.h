#pragma once
// Poller: the object in which a loop sleeps, and which reports events of the kernel (news), such as input.
//
//     poller.prepare();              // the loop: may throw; nothing has happened yet
//     poller.wait(seconds);          // the loop: until there is news, wake(), or the time is over
//     poller.wake();                 // any thread, or a signal handler: ends the sleep
//     poller.takeWake();             // the loop, after each wake(), or when a wake() is about to come
//
// Without usePoller(), a RealLoop sleeps in its EventPoller, which has no news.
//
// A poller puts waiters into the loop's ready queue, or an object that resumes them. wait() itself never resumes a
// waiter: the waiter could complete the future of run(), and the loop would then sleep although run() must return.

#include <cstdint>

namespace flow {

class Poller {
public:
    Poller() = default;
    Poller(Poller const&) = delete;
    Poller& operator=(Poller const&) = delete;
    virtual ~Poller() = default;

    /// Called by the loop before wait(), and before other threads may call wake(). In a child of fork(), replaces
    /// descriptors that the parent would share. Throws platform_error if the kernel gives no descriptor.
    virtual void prepare() = 0;
    /// Checks for news. If there is none, sleeps for at most `seconds` (0 or infinity are allowed), or until a signal.
    virtual void wait(double seconds) noexcept = 0;
    /// Ends a wait(), or the next one. Any thread and any signal handler may call it, once for each takeWake().
    virtual void wake() noexcept = 0;
    /// Called by the loop when another thread has called wake(), or will call it within a few instructions. Waits for
    /// this wake(): otherwise it could come after this object is destroyed, or end the next sleep.
    virtual void takeWake() noexcept = 0;
    /// True if a waiter waits for news: then the loop does not end for lack of work.
    virtual bool isWaitedFor() { return false; }
    /// True if wait(0) could find news. If not, a busy loop does not call wait(0).
    virtual bool isUsed() const { return false; }

    // For a loop inside another one: RealLoop::descriptor().

    /// Returns a descriptor that is readable while wait(0) would find news: valid after prepare(), until the process
    /// forks. A poller that returns -1 cannot be used in a loop inside another one.
    virtual int descriptor() const { return -1; }
    /// Called before another loop waits for descriptor(). Returns false if wait(0) must be called again instead.
    virtual bool settle() noexcept { return true; }
};

/// A poller without news: the loop sleeps at an eventfd, which the first prepare() makes.
class EventPoller final : public Poller {
public:
    ~EventPoller() override;

    void prepare() override;
    void wait(double seconds) noexcept override;
    void wake() noexcept override;
    void takeWake() noexcept override;

    /// Returns the eventfd, to be registered elsewhere. Valid after prepare(), until the process forks.
    int descriptor() const override { return event_; }
    /// True if prepare() would make a descriptor: there is none yet, or fork() has copied it from the parent process.
    bool needsDescriptor() const;

private:
    int event_ = -1;
    std::uint32_t forks_ = 0; // the forkCount() of the process that made the eventfd
};

} // namespace flow
