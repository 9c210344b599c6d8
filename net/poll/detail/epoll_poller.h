#pragma once
// EpollPoller: watches descriptors with epoll, edge-triggered.

#include "net/poll/network_poller.h"

namespace flow::net {

class EpollPoller final : public NetworkPoller {
public:
    EpollPoller() = default;
    ~EpollPoller() override;

    void prepare() override;
    void wait(double seconds) noexcept override;
    void wake() noexcept override { events_.wake(); }
    void takeWake() noexcept override { events_.takeWake(); }

    void add(PolledDescriptor& descriptor) override;
    void remove(PolledDescriptor& descriptor) override;
    void replace(PolledDescriptor& before, PolledDescriptor& after) override;
    char const* name() const override { return "epoll"; }

private:
    static constexpr int kEventsPerWait = 256;

    /// Makes the epoll descriptor, or a new one after a fork, and watches the eventfd and all descriptors of watched_.
    void open();
    bool change(int operation, int descriptor, void* what, std::uint32_t events) noexcept;

    EventPoller events_;
    int epoll_ = -1;
    bool hasNanoseconds_ = true; // true while epoll_pwait2 works
};

} // namespace flow::net
