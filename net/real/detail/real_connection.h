#pragma once
// RealConnection: a connected TCP or Unix socket.

#include "flow/core/ring_queue.h"
#include "flow/loop/turn.h"
#include "net/real/detail/real_socket.h"

#include <algorithm>

namespace flow::net {

/// Queued bytes that the kernel has not taken yet.
class SendQueue {
public:
    bool isEmpty() const { return pieces_.isEmpty(); }
    void push(Bytes bytes) { pieces_.push(std::move(bytes)); }
    /// Calls the kernel until it takes no more. `gone`: the bytes that it took, with the number of calls.
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
    int first_ = 0; // bytes of the first piece that were sent
};

/// Statistics of a listener, shared with its connections: how often the first read of an accepted connection found
/// bytes at once.
class FirstReads : public ReferenceCounted<FirstReads> {
public:
    bool areWorthIt() const { return score_ > 0; }
    void note(bool found) { score_ = found ? std::min(score_ + 1, 8) : std::max(score_ - 2, -8); }
    /// Now and then a read is tried although it was not worth it.
    bool isTrial() { return ++count_ % 64 == 0; }

private:
    int score_ = 1;
    unsigned count_ = 0;
};

class RealConnection final : public Connection, public RealSocket, Turn {
public:
    /// `opened` is connected.
    RealConnection(RealNetwork& network, OpenDescriptor opened, Address const& peer, ReadStrategy strategy,
                   Reference<FirstReads> firstReads);
    /// Connecting has succeeded.
    static Reference<Connection> ofConnected(RealSocket& before, Address const& peer, ReadStrategy strategy);
    ~RealConnection() override;

    /// With ReadStrategy::Ahead, receiving stops at so many unread bytes.
    static constexpr std::size_t kMostAhead = 256 * 1024;

    /// The seconds for which close() sends unsent bytes. Tests make them fewer.
    static inline double linger = kLinger;

    /// Takes it out of here, for another loop; see net/real/detail/hand_over.h.
    friend class DetachedConnection;

    void shutdownWrite() override;
    void close() override;
    void abort() override;
    Address localAddress() const override { return addressHere(); }
    Address peerAddress() const override { return peer_; }
    SocketCounters counters() const override { return counters_; }
    std::size_t tryWrite(std::span<StringRef const> pieces) noexcept override;
    Drain writable() override;

private:
    bool fill(std::size_t wanted) noexcept override;
    std::size_t fillInto(Buffers to, std::size_t size, bool& isSomething) noexcept override;
    bool hasBytes(std::size_t size) noexcept override;
    bool mayFill() noexcept override { return isOpen() && (mayRead_ || behind_.isValid()); }
    /// Receives once, at least one byte: the number of bytes; nothing if there are none now, 0 at the end and after an
    /// error.
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
    /// Nothing is received any more, and what the kernel has taken is in received_.
    void stopReceiving() noexcept;
    void flush();
    void failReading(Error error) noexcept;

    Address peer_;
    SendQueue queue_;
    Reference<FirstReads> firstReads_; // null after the first read, or without statistics
    ReadStrategy strategy_;            // Ahead only if the poller can receive ahead
    Error behind_;                     // received ahead: what has ended the connection, behind received_
    bool mayRead_ = false;             // the poller has reported it, and no read since was short
    bool isSure_ = false;              // the next read is sure to find bytes, the end or an error
    bool overflows_ = false;           // more may have come than the last reader's small buffer could take
    bool mayWrite_ = true;             // no write was short since the poller reported it
    bool noMore_ = false;              // the end will follow: keep reading even after a short read
    bool isAhead_ = false;             // it is received ahead at this moment
    bool isClosed_ = false;            // by its owner
    bool holdsByte_ = false; // writable() waits: one byte counts as queued, for the bytes that the caller keeps
};

} // namespace flow::net
