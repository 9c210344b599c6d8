#pragma once
// UringPoller: watches descriptors with io_uring. One request for each descriptor reports every change (multishot
// poll). One system call makes new requests and waits for events; a check for events takes none.
//
// For a listener the request accepts every connection (multishot accept). When the kernel cannot, since it is too old
// or has no descriptor left, or when the listener asks to stop, the listener is polled from then on.
//
// For a connection that is received ahead the request receives everything (multishot receive) into the buffers of the
// ring. The connection may use the bytes there until the poller is about to sleep, or has few buffers left: then it
// must copy the unread bytes. See net/poll/uring_receive.cpp.

#include "flow/core/ring_queue.h"
#include "net/poll/detail/uring_buffers.h"
#include "net/poll/network_poller.h"

#include <string>
#include <vector>

struct io_uring_sqe;

namespace flow::net {

/// Returns 0 if io_uring works, as hasUring() says, otherwise the errno with which the kernel has refused it.
int uringError();
/// Returns the meaning of `error`, for the person that starts the program.
std::string whyNoUring(int error);

class UringPoller final : public NetworkPoller {
public:
    UringPoller();
    ~UringPoller() override;

    /// Makes the ring. Returns 0, or the errno for which there is no ring. May throw as prepare() does.
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

    static constexpr std::uint64_t kWake = 0;   // names the eventfd
    static constexpr std::uint64_t kNobody = 1; // for requests with an unused answer; other ids begin at 1 << 32
    // With the token of a descriptor, these are the ids of the requests that accept or receive. The token alone polls.
    static constexpr std::uint64_t kAccepts = 1u << 31;
    static constexpr std::uint64_t kReceives = 1u << 30;

    /// A place for a descriptor. The count distinguishes it from an earlier descriptor in the same place.
    struct Slot {
        PolledDescriptor* descriptor = nullptr;
        std::uint32_t count = 1;
        bool accepts = false;     // the request accepts connections
        bool isAhead = false;     // the connection is received ahead
        bool wantsBytes = false;  // the connection is received ahead, and the receiving was not stopped
        bool isReceiving = false; // the kernel has the request, or it is in unreceived_
        bool isPolled = false;    // the kernel has a request for writing
    };
    /// A buffer of which a connection may use received bytes.
    struct Lent {
        std::uint64_t token;
        unsigned buffer;
    };

    void open();
    /// Returns a free slot, and gives the descriptor its token. occupy() then takes the slot.
    Slot& freeSlot(PolledDescriptor& descriptor);
    void occupy(Slot& slot, PolledDescriptor& descriptor);
    void requestAll(PolledDescriptor& descriptor);
    /// Requests events or connections of `descriptor` under that id, with the next system call.
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
    /// Makes new requests for the first ids in `ended_`, at most `most` and as many as the ring has room for. Returns
    /// their number.
    std::size_t requestAgain(std::size_t most) noexcept;
    Slot* slotOf(std::uint64_t id);
    std::uint64_t idOf(PolledDescriptor const& descriptor);

    EventPoller events_;
    std::unique_ptr<io_uring> ring_; // null: not made yet
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> free_;       // free places in slots_
    std::vector<std::uint64_t> ended_;      // the ids of requests to make again, with room for all
    std::unique_ptr<UringBuffers> buffers_; // null: nothing has asked for them, or there is no memory
    RingQueue<Lent> lent_;
    std::vector<std::uint64_t> unreceived_; // connections to receive again when there are buffers; room for all
};

} // namespace flow::net
