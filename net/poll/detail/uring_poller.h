#pragma once
// UringPoller: watches descriptors with io_uring. One request for each descriptor reports every change (multishot
// poll). One system call submits new requests and waits for events; a check for events needs no system call.
//
// For a listener the request accepts every connection (multishot accept). If the kernel cannot accept (it is too old,
// or has no descriptor left), or if the listener asks to stop, the listener is polled from then on.
//
// For a connection that is received ahead the request receives everything (multishot receive) into the buffers of the
// ring. Before the poller sleeps, or has few buffers left, it makes the connection copy the unread bytes.

#include "flow/core/ring_queue.h"
#include "net/poll/detail/uring_buffers.h"
#include "net/poll/network_poller.h"

#include <string>
#include <vector>

struct io_uring_sqe;

namespace flow::net {

/// Returns 0 if io_uring works (hasUring()), otherwise the errno of the kernel's refusal.
int uringError();
std::string whyNoUring(int error);

class UringPoller final : public NetworkPoller {
public:
    UringPoller();
    ~UringPoller() override;

    /// Makes the ring. Returns 0, or the errno of the failure. May throw the errors of prepare().
    int tryToOpen();
    void prepare() override;
    void wait(double seconds) noexcept override;
    void wake() noexcept override { events_.wake(); }
    void takeWake() noexcept override { events_.takeWake(); }
    int descriptor() const override;
    bool settle() noexcept override;

    void add(PolledDescriptor& descriptor) override;
    void remove(PolledDescriptor& descriptor) override;
    void replace(PolledDescriptor& before, PolledDescriptor& after) override;
    bool canReceiveAhead() override;
    void receiveAhead(PolledDescriptor& descriptor) override;
    void stopReceiving(PolledDescriptor& descriptor) noexcept override;
    void watchWriting(PolledDescriptor& descriptor) override;
    int watchOnce(PolledDescriptor& descriptor, Wanted wanted) override;
    bool noticesReuse(PolledDescriptor const&) const override { return false; }
    char const* name() const override { return "uring"; }

private:
    static constexpr unsigned kEntries = 256;
    static constexpr unsigned kNews = 4096; // the number of events that the kernel has room for

    static constexpr std::uint64_t kWake = 0;   // the id of the request for the eventfd
    static constexpr std::uint64_t kNobody = 1; // the id of requests with an ignored result; other ids begin at 1 << 32
    // The id of a poll request is the descriptor's token. The ids of other requests have one of these bits too.
    static constexpr std::uint64_t kAccepts = 1u << 31;
    static constexpr std::uint64_t kReceives = 1u << 30;

    /// A place for a descriptor. `count` distinguishes it from earlier descriptors in the same place.
    struct Slot {
        PolledDescriptor* descriptor = nullptr;
        std::uint32_t count = 1;
        bool accepts = false;     // the request accepts connections
        bool isAccepting = false; // the kernel has a request that accepts
        bool isAhead = false;     // the connection is received ahead
        bool wantsBytes = false;  // the connection is received ahead, and receiving was not stopped
        bool isReceiving = false; // the kernel has the receive request, or unreceived_ has the token
        bool isPolled = false;    // if isAhead: the kernel has a poll request, for writing only; if `once`: for `once`
        unsigned once = 0;        // the events of watchOnce(); 0: the descriptor was added

        bool hasPoll() const { return (!isAhead && once == 0) || isPolled; }
    };
    /// A buffer with received bytes that a connection may use.
    struct Lent {
        std::uint64_t token;
        unsigned buffer;
    };

    void open();
    /// Returns a free slot, and gives the descriptor its token. occupy() then takes the slot.
    Slot& freeSlot(PolledDescriptor& descriptor);
    void occupy(Slot& slot, PolledDescriptor& descriptor);
    void requestAll(PolledDescriptor& descriptor);
    /// Writes the request `id` for events, connections or bytes of `descriptor`, for the next system call.
    void request(int descriptor, std::uint64_t id);
    void cancel(std::uint64_t id) noexcept;
    /// Cancels the request with the next system call.
    void cancelLater(std::uint64_t id) noexcept;
    io_uring_sqe* freeEntry() noexcept;
    void submit() noexcept;
    void takeNews() noexcept;
    void takeAll() noexcept;
    void note(UringNews const& news) noexcept;
    void noteAccepted(std::uint64_t id, int result, bool isLast) noexcept;
    void noteReceived(UringNews const& news) noexcept;
    void stop(Slot& slot) noexcept;
    void stopAccepting(Slot& slot) noexcept;
    void lend(PolledDescriptor& descriptor, unsigned buffer) noexcept;
    /// Takes back the buffers that connections no longer use. If `all`, makes the connections copy, and takes back all.
    void takeBuffersBack(bool all) noexcept;
    void receiveAgain() noexcept;
    /// Makes the first requests of `ended_` again: at most `most`, and at most half of the ring. Returns their number.
    std::size_t requestAgain(std::size_t most) noexcept;
    Slot* slotOf(std::uint64_t id);
    std::uint64_t idOf(PolledDescriptor const& descriptor);

    EventPoller events_;
    std::unique_ptr<io_uring> ring_; // null: not made yet
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> free_;       // free places in slots_
    std::vector<std::uint64_t> ended_;      // the ids of requests to make again; has capacity for all
    std::unique_ptr<UringBuffers> buffers_; // null: not needed yet, or there is no memory
    RingQueue<Lent> lent_;
    std::vector<std::uint64_t> unreceived_; // tokens of connections that wait for buffers; has capacity for all
};

} // namespace flow::net
