#pragma once
// Transport: the interface of the network. The real and the simulated network implement it; transport() returns the one
// of the current loop.
//
//     Reference<Connection> peer = co_await transport().connect(server);
//     co_await peer->write("hello"_sr);
//     peer->shutdownWrite();                                     // nothing more will come
//     for (;;) {
//         Bytes bytes = co_await peer->read();
//         if (bytes.empty())
//             break;                                             // the other side has done the same
//         use(bytes);
//     }
//
//     Reference<Listener> listener = transport().listen(4500);
//     for (;;)
//         collection.add(serve(co_await listener->accept()));
//
// On a RealLoop without one, transport() makes one: epoll and the machine's sockets. A World has its SimNetwork.
//
// Ownership. Written bytes belong to the connection until they have been sent. So the kernel never uses memory of a
// cancelled operation.
//
// Lifetime. Connections, listeners and sockets close when their last Reference goes. They belong to the loop on which
// they were made. When it ends, they are closed, with a reset if written bytes are not sent yet: wait for flushed(), or
// for settled(), before that. Futures that are not ready then never become ready, and only destructors may be called.

#include "flow/core/future.h"
#include "flow/loop/loop.h"
#include "net/connection.h"
#include "net/datagram_socket.h"
#include "net/listener.h"
#include "net/resolver.h"

#include <vector>

namespace flow::net {

/// When a connection tries to receive. The strategy changes the cost, never the bytes that are read.
enum class ReadStrategy : std::uint8_t {
    /// At once: no wait for the poller if bytes are there, a wasted system call if they are not.
    Speculative,
    /// When the poller has reported bytes, and as long as the kernel fills the whole buffer.
    Reactive,
    /// As Reactive, but the first read of an accepted connection is tried at once, if that was worth it lately for its
    /// listener.
    Adaptive,
    /// The kernel receives ahead of the reads, into memory that all connections of the loop share: a read needs no
    /// system call. For small messages; large ones are faster with the others. It stops when 256 KiB of a connection
    /// are unread, until a read asks for more; up to 256 KiB more may have come by then. Only with io_uring
    /// (FLOW_POLLER=uring) and Linux 6.12; elsewhere, and for datagrams, this is Adaptive.
    Ahead,
};

/// 0: the system's default. The simulated network ignores all options but ConnectOptions::timeout.
struct SocketOptions {
    bool noDelay = true;    // small writes are sent at once (TCP)
    bool keepAlive = false; // the kernel checks now and then whether the other side is there (TCP)
    int sendBuffer = 0;     // bytes in the kernel; by default 208 KiB if the peer is at a loopback address (TCP)
    int receiveBuffer = 0;
    ReadStrategy readStrategy = ReadStrategy::Adaptive;
};

struct ConnectOptions : SocketOptions {
    /// The local address; with port 0 the kernel chooses one.
    std::optional<Address> local;
    /// Seconds after which it fails with connection_timed_out, if the kernel has not failed before.
    double timeout = 30;
};

struct ListenOptions : SocketOptions {
    int backlog = 1024;     // connections that were not accepted
    bool reusePort = false; // several sockets of this user may listen there, and the kernel distributes the connections
    bool onlyV6 = false;    // of [::]: not IPv4 as well
};

struct DatagramOptions : SocketOptions {
    bool reusePort = false;
    bool onlyV6 = false;
};

class Transport {
public:
    /// Fails with connection_refused when no program listens there, connection_timed_out when nothing answers for long,
    /// host_unreachable when there is no way; for options.local with address_in_use, invalid_local_address, or
    /// unsupported_operation if it is of another family. Cancel-safe: the attempt is cancelled at once; if the other
    /// side has already accepted the connection, it fails there.
    virtual Future<Reference<Connection>> connect(Address to, ConnectOptions const& options) = 0;
    Future<Reference<Connection>> connect(Address to) { return connect(to, ConnectOptions()); }
    /// Throws address_in_use, or invalid_local_address if the address is another machine's; not_allowed if only
    /// privileged programs may listen there. With port 0, one that is free. A Unix socket at a path is a file, which
    /// is removed when the listener closes, if it still is that file, and by the process that has made the listener. It
    /// must not exist, except for a socket of this user at which no program listens any more: such a file is replaced.
    virtual Reference<Listener> listen(Address at, ListenOptions const& options) = 0;
    Reference<Listener> listen(Address at) { return listen(at, ListenOptions()); }
    Reference<Listener> listen(std::uint16_t port) { return listen(Address(0, port)); }
    /// Like listen(). Ports of datagrams have nothing to do with those of connections.
    virtual Reference<DatagramSocket> bind(Address at, DatagramOptions const& options) = 0;
    Reference<DatagramSocket> bind(Address at) { return bind(at, DatagramOptions()); }
    /// One for each address, in their order; all or none. Where the kernel has io_uring, many sockets are made with few
    /// system calls.
    virtual std::vector<Reference<Listener>> listenMany(std::span<Address const> at, ListenOptions const& options) {
        std::vector<Reference<Listener>> all;
        all.reserve(at.size());
        for (Address const& each : at)
            all.push_back(listen(each, options));
        return all;
    }
    std::vector<Reference<Listener>> listenMany(std::span<Address const> at) { return listenMany(at, {}); }
    virtual std::vector<Reference<DatagramSocket>> bindMany(std::span<Address const> at,
                                                            DatagramOptions const& options) {
        std::vector<Reference<DatagramSocket>> all;
        all.reserve(at.size());
        for (Address const& each : at)
            all.push_back(bind(each, options));
        return all;
    }
    std::vector<Reference<DatagramSocket>> bindMany(std::span<Address const> at) { return bindMany(at, {}); }
    /// listen() and bind() as futures: what these throw is the future's error. A socket is registered with the poller
    /// at the first wait for it, so the future is ready at once.
    Future<Reference<Listener>> listenAsync(Address at, ListenOptions const& options = {}) {
        return futureOf([&] { return listen(at, options); });
    }
    Future<Reference<DatagramSocket>> bindAsync(Address at, DatagramOptions const& options = {}) {
        return futureOf([&] { return bind(at, options); });
    }
    /// Ready when closed connections have nothing left to send: their written bytes are sent, or given up. A program
    /// that ends its loop before that resets such connections.
    virtual Future<Void> settled() { return Void(); }
    /// An address of this machine that others can connect to, with port 0.
    virtual Address localAddress() const = 0;
    /// Finds the addresses of names; see also net/connect.h.
    virtual Resolver& resolver() = 0;

protected:
    ~Transport() = default;

private:
    template <class Make>
    static Future<std::invoke_result_t<Make>> futureOf(Make make) {
        try {
            return make();
        } catch (...) {
            return currentError();
        }
    }
};

/// Makes a RealNetwork for the current loop, which must be a RealLoop; it ends with the loop.
Transport& makeRealTransport();

/// The transport of the current loop. There must be one, or the loop must be a RealLoop.
inline Transport& transport() {
    Transport* transport = Loop::current().service<Transport>();
    if (transport) [[likely]]
        return *transport;
    return makeRealTransport();
}

} // namespace flow::net
