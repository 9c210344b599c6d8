#pragma once
// OuterPoller: the poller of a RealLoop that has a descriptor(). It stands in front of the loop's poller.
//
// The descriptor is an epoll of three descriptors: that of the loop's poller, an eventfd for wake(), and a timerfd. The
// descriptor is readable unless the loop rests. The loop rests when runReady() has found nothing more to do: the inbox
// then has the mark of a sleeping loop, and the timerfd is set for the next timer. The next runReady() ends the rest,
// and begins a new rest when it returns. A run() outside of a step ends the rest, too; the descriptor is then readable
// until the next runReady().

#include "flow/loop/real_loop.h"

#include <utility>

namespace flow {

class RealLoop::OuterPoller final : public Poller {
public:
    OuterPoller(RealLoop& owner, Poller& inner) : loop_(owner), inner_(&inner) {}
    ~OuterPoller() override;

    void prepare() override;
    void wait(double seconds) noexcept override;
    void wake() noexcept override { events_.wake(); }
    void takeWake() noexcept override { events_.takeWake(); }
    bool isWaitedFor() override { return inner_ && inner_->isWaitedFor(); }
    bool isUsed() const override { return true; } // so that each turn calls prepare(), which ends the rest
    int descriptor() const override { return epoll_; }

    Poller& inner() { return inner_ ? *inner_ : *this; }
    void use(Poller* inner) noexcept;
    /// Returns true if the loop rested.
    bool endRest() noexcept {
        if (!std::exchange(rests_, false))
            return false;
        loop_.wakeUp();
        return true;
    }
    bool run();

private:
    void open();
    void watch(int descriptor);
    /// Makes the descriptor readable in `seconds`.
    void readableIn(double seconds) noexcept;
    void rest() noexcept;

    RealLoop& loop_;
    Poller* inner_;             // null: none
    Poller* watched_ = nullptr; // epoll_ contains the descriptor of this poller
    EventPoller events_;        // for wake()
    int timer_ = -1, epoll_ = -1;
    bool isOpen_ = false;
    bool rests_ = false;
    bool isDriven_ = false; // runReady() runs
};

} // namespace flow
