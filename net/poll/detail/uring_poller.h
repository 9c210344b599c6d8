#pragma once
// UringPoller: watches descriptors with io_uring. One request for each descriptor reports every change (multishot
// poll). One system call makes new requests and waits for events; a check for events needs no system call.
//
// For a listener the request accepts every connection (multishot accept). If the kernel cannot accept (it is too old,
// or has no descriptor left), or if the listener asks to stop, the listener is polled from then on.
//
// For a connection that is received ahead the request receives everything (multishot receive) into the buffers of the
// ring. The connection may use the bytes there until the poller is about to sleep, or has few buffers left. Then
// the connection must copy the unread bytes. See net/poll/uring_receive.cpp.

#include "flow/core/ring_queue.h"
#include "net/poll/detail/uring_buffers.h"
#include "net/poll/network_poller.h"

#include <string>
#include <vector>

struct io_uring_sqe;

namespace flow::net {

/// Returns 0 if io_uring works (hasUring()), otherwise the errno with which the kernel has refused io_uring.
int uringError();
/// Returns the meaning of `error`, for the person that starts the program.
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

    void add(PolledDescriptor& descriptor) override;
    void remove(PolledDescriptor& descriptor) override;
    void replace(PolledDescriptor& before, PolledDescriptor& after) override;
    bool canReceiveAhead() override;
    void receiveAhead(PolledDescriptor& descriptor) override;
    void stopReceiving(PolledDescriptor& descriptor) noexcept override;
    void watchWriting(PolledDescriptor& descriptor) override;
    char const* name() const override { return "uring"; }

private:
    static constexpr unsigned kEntries = 256;
    static constexpr unsigned kNews = 4096; // the number of events that the kernel has room for

    static constexpr std::uint64_t kWake = 0;   // the id of the request for the eventfd
    static constexpr std::uint64_t kNobody = 1; // the id of requests with an unused answer; other ids begin at 1 << 32
    // The id of a poll request is the descriptor's token. The ids of other requests have one of these bits too.
    static constexpr std::uint64_t kAccepts = 1u << 31;
    static constexpr std::uint64_t kReceives = 1u << 30;

    /// A place for a descriptor. The count distinguishes the descriptor from an earlier one in the same place.
    struct Slot {
        PolledDescriptor* descriptor = nullptr;
        std::uint32_t count = 1;
        bool accepts = false;     // the request accepts connections
        bool isAhead = false;     // the connection is received ahead
        bool wantsBytes = false;  // the connection is received ahead, and the receiving was not stopped
        bool isReceiving = false; // the kernel has the receive request, or unreceived_ has the token
        bool isPolled = false;    // if isAhead: the kernel has a poll request, for writing only
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
    /// Requests events, connections or bytes of `descriptor`: writes the request `id`, for the next system call.
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
    void lend(PolledDescriptor& descriptor, unsigned buffer) noexcept;
    /// Takes back the buffers that connections do not use any more. If `all`, makes the connections copy, and takes
    /// back all buffers.
    void takeBuffersBack(bool all) noexcept;
    void receiveAgain() noexcept;
    /// Makes the requests of the first ids in `ended_` again: at most `most`, and at most half as many as the ring has
    /// entries. Returns the number of ids.
    std::size_t requestAgain(std::size_t most) noexcept;
    Slot* slotOf(std::uint64_t id);
    std::uint64_t idOf(PolledDescriptor const& descriptor);

    EventPoller events_;
    std::unique_ptr<io_uring> ring_; // null: not made yet
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> free_;       // free places in slots_
    std::vector<std::uint64_t> ended_;      // the ids of requests to make again; capacity suffices for all
    std::unique_ptr<UringBuffers> buffers_; // null: not needed yet, or there is no memory
    RingQueue<Lent> lent_;
    std::vector<std::uint64_t> unreceived_; // tokens of connections that wait for buffers; capacity suffices for all
};

} // namespace flow::net
