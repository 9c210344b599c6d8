#pragma once
// EpollPoller: watches descriptors with epoll, edge-triggered, for one event (EPOLLONESHOT), or by level (watch()).
//
// epoll identifies a registration by the open file and its number. The owner of a descriptor of watchOnce() may close
// it, and a socket of this loop may then get the number. So once_ notes which descriptor of watchOnce() has registered
// a number last, and remove() of an earlier descriptor leaves that registration alone.

#include "net/poll/network_poller.h"

#include <sys/epoll.h>
#include <vector>

namespace flow::net {

class EpollPoller final : public NetworkPoller {
public:
    EpollPoller() = default;
    ~EpollPoller() override;

    void prepare() override;
    void wait(double seconds) noexcept override;
    void wake() noexcept override { events_.wake(); }
    void takeWake() noexcept override { events_.takeWake(); }
    int descriptor() const override { return epoll_; }

    void add(PolledDescriptor& descriptor) override;
    void remove(PolledDescriptor& descriptor) override;
    void replace(PolledDescriptor& before, PolledDescriptor& after) override;
    int watchOnce(PolledDescriptor& descriptor, Wanted wanted) override {
        return request(descriptor, wanted, EPOLLONESHOT);
    }
    int watch(PolledDescriptor& descriptor, Wanted wanted) override { return request(descriptor, wanted, 0); }
    bool noticesReuse(PolledDescriptor const& descriptor) const override {
        return onceAt(descriptor.descriptor()) == &descriptor;
    }
    char const* name() const override { return "epoll"; }

private:
    static constexpr int kEventsPerWait = 256;

    struct Once {
        PolledDescriptor* descriptor = nullptr; // null: none
        std::uint32_t events = 0;               // of the last request
    };

    /// Makes the epoll descriptor, or a new one after a fork, and watches the eventfd and all descriptors of watched_.
    void open();
    int request(PolledDescriptor& descriptor, Wanted wanted, std::uint32_t events);
    bool change(int operation, int descriptor, epoll_data what, std::uint32_t events) noexcept;
    PolledDescriptor* onceAt(int number) const {
        auto index = static_cast<std::size_t>(number);
        return index < once_.size() ? once_[index].descriptor : nullptr;
    }
    void forgetOnceAt(int number) {
        if (onceAt(number))
            once_[static_cast<std::size_t>(number)] = {};
    }
    /// True if a wait for this number's file would end another wait.
    bool isTaken(int number);

    EventPoller events_;
    std::vector<Once> once_;      // at the number of each registered descriptor of watchOnce()
    std::uint32_t lastCount_ = 0; // in the token of such a descriptor
    int epoll_ = -1;
    bool hasNanoseconds_ = true; // true while epoll_pwait2 works
};

} // namespace flow::net
