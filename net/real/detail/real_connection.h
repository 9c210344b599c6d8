#pragma once
// RealConnection: a connected TCP or Unix socket.

#include "flow/core/ring_queue.h"
#include "flow/loop/turn.h"
#include "net/real/detail/real_socket.h"

#include <algorithm>
#include <sys/uio.h>

namespace flow::net {

class SendQueue {
public:
    bool isEmpty() const { return pieces_.isEmpty(); }
    void push(Bytes bytes) { pieces_.push(std::move(bytes)); }
    static constexpr std::uint32_t kPiecesPerCall = 64;
    /// Writes the first pieces, at most kPiecesPerCall, to `pieces`. Returns their number, and their bytes in `total`.
    std::uint32_t gather(iovec* pieces, std::size_t& total);
    /// Removes the first bytes.
    void consume(std::size_t bytes);
    void clear() {
        while (!isEmpty())
            pieces_.pop();
        first_ = 0;
    }
    /// The result of sendTo(), which calls the kernel until the queue is empty or the kernel takes no more.
    struct Sent {
        std::size_t bytes = 0;
        int calls = 0;
        bool isBlocked = false;
        int error = 0; // errno
    };
    Sent sendTo(int descriptor);
    void moveTo(SendQueue& other);

private:
    RingQueue<Bytes> pieces_;
    int first_ = 0; // the bytes of the first piece that were sent
};

/// Statistics of a listener and its connections: how often the first read found bytes immediately.
class FirstReads : public ReferenceCounted<FirstReads> {
public:
    bool areWorthIt() const { return score_ > 0; }
    void note(bool found) { score_ = found ? std::min(score_ + 1, 8) : std::max(score_ - 2, -8); }
    /// True at each 64th call: then the first read is tried although areWorthIt() is false.
    bool isTrial() { return ++count_ % 64 == 0; }

private:
    int score_ = 1;
    unsigned count_ = 0;
};

class RealConnection final : public Connection, public RealSocket, Turn {
public:
    /// `opened` is a connected socket.
    RealConnection(RealNetwork& network, OpenDescriptor opened, Address const& peer, ReadStrategy strategy,
                   Reference<FirstReads> firstReads);
    /// Makes a connection, which takes the descriptor of the connected socket `before`.
    static Reference<Connection> ofConnected(RealSocket& before, Address const& peer, ReadStrategy strategy);
    ~RealConnection() override;

    /// With ReadStrategy::Ahead, receiving stops when this many bytes are unread.
    static constexpr std::size_t kMostAhead = 256 * 1024;

    /// The seconds for which close() sends unsent bytes. Tests shorten them.
    static inline double linger = kLinger;

    friend class DetachedConnection;

    void shutdownWrite() override;
    void close() override;
    void abort() override;
    Address localAddress() const override { return addressHere(); }
    Address peerAddress() const override { return peer_; }
    SocketCounters counters() const override { return counters_; }
    std::optional<PeerCredentials> peerCredentials() const override;
    int nativeDescriptor() const override { return descriptor(); }
    std::size_t tryWrite(std::span<StringRef const> pieces) noexcept override;
    std::optional<std::size_t> trySendFile(StringRef before, int file, std::uint64_t offset,
                                           std::size_t size) noexcept override;
    Drain writable() override;
    // For net/real/hand_over.h, on a Unix socket:
    /// Sends the bytes, which must be few, and the descriptors. Returns false if it has sent nothing. Throws an Error.
    bool trySendWith(std::span<std::uint8_t const> bytes, std::span<int const> descriptors);
    /// Receives once, after a ReadRequest of Kind::Message was ready, and appends the descriptors that have come, at
    /// most two. Returns the number of bytes; 0 at the end. Throws an Error.
    std::size_t receiveWith(std::span<std::uint8_t> to, std::vector<OpenDescriptor>& descriptors);
    bool receivesAhead() const { return strategy_ == ReadStrategy::Ahead; }
    /// Ends the connection with the error, because the other side has sent something wrong.
    void refuse(Error error);

private:
    /// Handles the result of a system call that should send `total` bytes. Returns how many bytes it has sent.
    std::size_t sentNow(ssize_t result, std::size_t total) noexcept;
    bool fill(std::size_t wanted) noexcept override;
    std::size_t fillInto(Buffers to, std::size_t size, bool& isSomething) noexcept override;
    bool hasBytes(std::size_t size) noexcept override;
    bool mayFill() noexcept override { return isOpen() && (mayRead_ || behind_.isValid()); }
    /// Receives once. Returns the number of bytes: 0 at the end and after an error, nothing if none are there now. `to`
    /// has room for at least one byte.
    std::optional<std::size_t> receive(Buffers to) noexcept;
    void beforeReaderParks() override { strategy_ == ReadStrategy::Ahead ? receiveAhead() : watch(); }
    void send(std::span<Bytes> pieces) override;
    void onNews(News news) noexcept override;
    bool onReceived(std::span<std::uint8_t const> bytes, int error) noexcept override;
    bool usesReceived() const override { return received_.isBorrowed(); }
    bool copyReceived() noexcept override;
    bool isAwaited() const override { return isReadWaitedFor() || isDrainWaitedFor() || !queue_.isEmpty(); }
    void onNetworkEnd() noexcept override;

    bool mayTryToRead();
    void watchWriting();
    // With ReadStrategy::Ahead:
    void receiveAhead();
    bool fillAhead() noexcept;
    void keep(std::span<std::uint8_t const> bytes) noexcept;
    /// Stops receiving ahead. Afterwards all bytes that the kernel received ahead are in received_.
    void stopReceiving() noexcept;
    void flush();
    void failReading(Error error) noexcept;

    Address peer_;
    SendQueue queue_;
    Reference<FirstReads> firstReads_; // null after the first read, or without statistics
    ReadStrategy strategy_;            // Ahead only if the poller can receive ahead
    Error behind_;                     // with Ahead: the error of reads after the bytes in received_
    bool mayRead_ = false;             // the poller has reported bytes, and no read was short since then
    bool isSure_ = false;              // the next read is sure to find bytes, the end or an error
    bool overflows_ = false;           // the last read has filled a small buffer, and more bytes may have come
    bool mayWrite_ = true;             // no write was short since the poller reported room
    bool noMore_ = false;              // the poller has reported the end: keep reading, even after a short read
    bool isAhead_ = false;             // the kernel receives ahead now
    bool isClosed_ = false;
    bool holdsByte_ = false; // a writable() waits, so one byte counts as queued, although queue_ is empty
};

} // namespace flow::net
