#pragma once
// Transport: the network as a program sees it. The real one and the simulated one implement it, and transport() is that
// of the current loop.
//
//     Reference<Connection> peer = co_await transport().connect(server);
//     co_await peer->write("hello"_sr);
//     peer->shutdownWrite();                                     // nothing more will come
//     for (;;) {
//         Bytes bytes = co_await peer->read();
//         if (bytes.empty())
//             break;                                             // the other side has said the same
//         use(bytes);
//     }
//
//     Reference<Listener> listener = transport().listen(4500);
//     for (;;)
//         collection.add(serve(co_await listener->accept()));
//
// Bytes are owned by whoever has them: what is written belongs to the connection until it has been sent, so that giving
// up a wait leaves nothing behind that the machine still writes into or reads from. What is read may share its memory
// with other bytes that were read (a real connection receives into large blocks), and what is written with other copies
// of it: bytes must not be changed once they have been written or were read.
//
// Errors. connection_failed: the connection could not be made, or is gone: refused, reset, timed out, unreachable; it
// is one error because all one can do is the same. Bytes that were written may then have arrived or not, and bytes that
// had come but were not read are lost. operation_obsolete: one has closed it oneself.
//
// Lifetime. Connections, listeners and sockets close when their last Reference goes. They belong to the loop on which
// they were made. When it ends, their machine closes them; futures that are not ready then stay so for ever, and
// nothing may be called any more but the destructors.

#include "flow/core/future.h"
#include "flow/loop/loop.h"
#include "flow/memory/reference.h"
#include "flow/memory/standalone.h"
#include "net/address.h"

namespace flow::net {

using Bytes = Standalone<StringRef>;

/// A stream of bytes in each direction. Bytes arrive in the order in which they were written, each once, but in other
/// pieces: where a write ended is nothing that the reader can see.
class Connection : public ReferenceCounted<Connection> {
public:
    virtual ~Connection() = default;

    /// Some bytes, as soon as there are any; none when the other side has ended its writing and everything was read.
    /// One read at a time. Cancel-safe: bytes are taken when the future becomes ready, not before, so that a read whose
    /// future is dropped while it is not ready takes none.
    virtual Future<Bytes> read() = 0;
    /// Takes the bytes, all of them, before it returns; they are sent behind those of earlier writes. Ready when no
    /// more than kHighWater bytes wait to be sent or to be read by the other side: a writer that waits for it holds no
    /// more than that and one write. Cancel-safe: whether anybody waits or not, the bytes are sent whole. Not after
    /// shutdownWrite().
    virtual Future<Void> write(Bytes bytes) = 0;
    static constexpr std::size_t kHighWater = 64 * 1024;
    /// The other side reads the end behind what was written before. Reading goes on. Idempotent.
    virtual void shutdownWrite() = 0;
    /// Ends both directions; what is pending, or is called later, fails with operation_obsolete. What was written is
    /// still sent, though nobody is told whether it arrives, and then the end. If the other side has sent something
    /// that was not read here, or goes on writing, its connection fails. Idempotent.
    virtual void close() = 0;

    virtual Address localAddress() const = 0;
    virtual Address peerAddress() const = 0;
};

/// Where others connect to.
class Listener : public ReferenceCounted<Listener> {
public:
    virtual ~Listener() = default;

    /// The next connection. One accept at a time. Cancel-safe: a connection is taken when the future becomes ready, not
    /// before.
    virtual Future<Reference<Connection>> accept() = 0;
    /// The port is free again. Connections that nobody has accepted fail; those that were accepted stay. A pending
    /// accept, and each later one, fails with operation_obsolete. Idempotent.
    virtual void close() = 0;

    /// With the port that was chosen, if none was asked for.
    virtual Address localAddress() const = 0;
};

struct Datagram {
    Address from;
    Bytes bytes;
};

/// Sends and receives single messages, which may be lost, come twice, or in another order.
class DatagramSocket : public ReferenceCounted<DatagramSocket> {
public:
    virtual ~DatagramSocket() = default;

    static constexpr int kLargest = 65507; // what IPv4 can carry

    /// Ready when the machine has taken it. What becomes of it then nobody is told. Fails with client_invalid_operation
    /// if there are more than kLargest bytes. Cancel-safe: it is sent or it is not.
    virtual Future<Void> send(Address to, Bytes bytes) = 0;
    /// The next one that has come. One receive at a time. Cancel-safe as a read is. A machine drops what comes while
    /// too much waits to be received.
    virtual Future<Datagram> receive() = 0;
    /// As for a Listener.
    virtual void close() = 0;

    virtual Address localAddress() const = 0;
};

class Transport {
public:
    /// Fails with connection_failed when nobody listens there, or nothing answers for long (some seconds at least; for
    /// a shorter time race it with a delay). Cancel-safe: the connection is given up at once, and if the other side has
    /// accepted it already, fails there.
    virtual Future<Reference<Connection>> connect(Address to) = 0;
    /// Throws address_in_use, or invalid_local_address if the address is another machine's. With port 0, one that is
    /// free.
    virtual Reference<Listener> listen(Address at) = 0;
    Reference<Listener> listen(std::uint16_t port) { return listen(Address(0, port)); }
    /// Like listen(). Ports of datagrams have nothing to do with those of connections.
    virtual Reference<DatagramSocket> bind(Address at) = 0;
    /// An address of this machine that others can connect to, with port 0.
    virtual Address localAddress() const = 0;

protected:
    ~Transport() = default;
};

/// The current loop's. There must be one.
inline Transport& transport() {
    Transport* transport = loop().service<Transport>();
    FLOW_ASSERT(transport, "no network on this loop: nobody has provided a net::Transport");
    return *transport;
}

} // namespace flow::net
