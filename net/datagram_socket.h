#pragma once
// DatagramSocket: sends and receives single messages, which may be lost, duplicated or reordered.
//
//     Reference<DatagramSocket> socket = transport().bind(Address(0, 5353));
//     Datagram datagram = co_await socket->receive();
//     co_await socket->send(datagram.from, datagram.bytes);

#include "flow/core/ring_queue.h"
#include "net/connection.h"

namespace flow::net {

struct Datagram {
    Address from; // the sender; for a datagram to send, the destination
    Bytes bytes;
};

class DatagramSocket;

/// Returns the index of a network interface, such as "eth0". Throws client_invalid_operation if there is none.
unsigned interfaceIndex(std::string const& name);

/// The operation of receive(), which takes the next datagram. `socket` must outlive the operation.
struct Receive {
    using Result = Datagram;
    DatagramSocket* socket;

    bool isReady();
    void park(WaiterNode& waiter);
    Datagram take();
    void describe(Description& out) const;
};

class DatagramSocket : public ReferenceCounted<DatagramSocket>, public Drainable {
public:
    virtual ~DatagramSocket() { failWaiters(); }

    static constexpr int kLargest = 65507; // the most that IPv4 can carry

    /// Sends a datagram, even if the operation is not awaited. As with Connection::write(), the operation is ready when
    /// there is room for more, and does not confirm the arrival. Fails with client_invalid_operation if `bytes` has
    /// more than kLargest bytes.
    Drain send(Address to, Bytes bytes) {
        Datagram one{to, std::move(bytes)};
        return send(std::span<Datagram>(&one, 1));
    }
    /// Sends all `datagrams` with few system calls, and may move from them. Datagram::from is the destination.
    Drain send(std::span<Datagram> datagrams);
    /// Receives the next datagram. Several operations may wait; the oldest is served first. An operation that loses a
    /// race takes no datagram. The kernel drops datagrams while too many wait to be received.
    Receive receive() { return {this}; }
    /// Closes the socket. Waiting and later operations fail with operation_obsolete. Idempotent.
    virtual void close() = 0;

    /// Also receives datagrams that are sent to `group`, a multicast address; its port does not matter. The datagrams
    /// come through the network interface with the index `interface` (see interfaceIndex()); 0: the kernel chooses one.
    /// The socket leaves its groups when it closes. Before the first joinGroup(), Linux also gives the socket datagrams
    /// to groups of other sockets. Throws client_invalid_operation with a sentence if `group` is no multicast address,
    /// the socket is of another family, is a member already or is closed, or the interface does not exist;
    /// platform_error if the kernel allows no more groups; unsupported_operation in a simulation.
    void joinGroup(Address const& group, unsigned interface = 0) { changeGroup(group, interface, true); }
    /// Ends a joinGroup() with the same arguments. Throws like joinGroup(), and if the socket is no member.
    void leaveGroup(Address const& group, unsigned interface = 0) { changeGroup(group, interface, false); }

    virtual Address localAddress() const = 0;
    virtual SocketCounters counters() const { return {}; }
    /// Like Connection::nativeDescriptor().
    virtual int nativeDescriptor() const { return -1; }

protected:
    DatagramSocket() : Drainable(128 * 1024, 256 * 1024) {}

    // The transport implements these functions.

    /// Puts arrived datagrams into received_, or sets error_. Returns false if none has arrived: see
    /// Connection::fill().
    virtual bool fill() noexcept = 0;
    virtual void beforeReceiverParks() {}
    virtual void sendAll(std::span<Datagram> datagrams) = 0;
    virtual void changeGroup(Address const& group, unsigned interface, bool joins);
    /// Called before a datagram is taken out of received_.
    virtual void onTaken(Datagram const&) {}

    void receiversMayTry() { receivers_.wakeForNews(TaskPriority::ReadSocket); }
    bool isReceiveWaitedFor() const { return receivers_.isWaitedFor(); }
    bool isFirstReceive(void const* operation) { return isReceiveWaitedFor() && &receivers_.first() == operation; }
    void fail(Error error);
    /// Makes waiting operations wait forever.
    void abandonWaiters() noexcept {
        receivers_.abandonAll();
        drains_.abandonAll();
    }
    void failWaiters() noexcept;

    RingQueue<Datagram> received_;

private:
    friend struct Receive;
    Source<Receive> receivers_;
};

inline bool Receive::isReady() {
    if (socket->error_.isValid())
        return true;
    return socket->receivers_.isNext(*this) && (!socket->received_.isEmpty() || (socket->fill() && isReady()));
}
inline void Receive::describe(Description& out) const {
    out.text = "a datagram to " + socket->localAddress().toString();
}
inline void Receive::park(WaiterNode& waiter) {
    socket->beforeReceiverParks();
    socket->receivers_.park(waiter, *this);
}

} // namespace flow::net
