#pragma once
// UringPoller: watches descriptors with io_uring: one request for each descriptor, which reports every change
// (multishot poll). Registering and waiting take one system call together; checking for events takes none.
//
// For a listener the request accepts every connection (multishot accept). When the kernel cannot, since it is too old
// or has no descriptor left, or when the listener asks to stop, the listener is polled from then on.

#include "net/poll/network_poller.h"

#include <vector>

struct io_uring;

namespace flow::net {

class UringPoller final : public NetworkPoller {
public:
    UringPoller();
    ~UringPoller() override;

    void prepare() override;
    void wait(double seconds) noexcept override;
    void wake() noexcept override { events_.wake(); }
    void takeWake() noexcept override { events_.takeWake(); }

    void add(PolledDescriptor& descriptor) override;
    void remove(PolledDescriptor& descriptor) override;
    void replace(PolledDescriptor& before, PolledDescriptor& after) override;
    char const* name() const override { return "uring"; }

private:
    static constexpr unsigned kEntries = 256;
    static constexpr unsigned kNews = 4096; // that the kernel has room for

    /// A place for a descriptor. The count distinguishes it from an earlier descriptor in the same place.
    struct Slot {
        PolledDescriptor* descriptor = nullptr;
        std::uint32_t count = 1;
        bool accepts = false; // its request
    };

    void open();
    /// Requests events or connections of `descriptor` under that id, with the next system call.
    void request(int descriptor, std::uint64_t id);
    void cancel(std::uint64_t id) noexcept;
    void submit() noexcept;
    void takeNews() noexcept;
    void takeAll() noexcept;
    void note(std::uint64_t id, int result, bool isLast) noexcept;
    void noteAccepted(std::uint64_t id, int result, bool isLast) noexcept;
    /// Makes new requests for the first ids in `ended_`, at most so many and as the ring has room for. Returns how
    /// many.
    std::size_t requestAgain(std::size_t most) noexcept;
    Slot* slotOf(std::uint64_t id);
    std::uint64_t idOf(PolledDescriptor const& descriptor);

    EventPoller events_;
    std::unique_ptr<io_uring> ring_; // null: not made yet
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> free_;  // slots
    std::vector<std::uint64_t> ended_; // the ids of requests to make again, with room for all
};

} // namespace flow::net
