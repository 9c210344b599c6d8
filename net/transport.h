#pragma once
// Transport: the interface of the real and the simulated network. transport() returns the current loop's Transport.
//
//     Reference<Connection> peer = co_await transport().connect(server);
//     co_await peer->write("hello"_sr);
//     peer->shutdownWrite();                                     // nothing more will come
//     for (;;) {
//         Bytes bytes = co_await peer->read();
//         if (bytes.empty())
//             break;                                             // the other side will send nothing more
//         use(bytes);
//     }
//
//     Reference<Listener> listener = transport().listen(4500);
//     Scope served(OnError::Report);                             // or serveUntil() of net/serve.h
//     for (;;) {
//         Reference<Connection> client = co_await listener->accept();
//         served.spawn(serve(client));
//     }
//
// If a RealLoop has no transport, transport() makes one for the machine's network. A simulated World has a SimNetwork.
//
// Errors of connect(), listen() and bind() have a sentence with the address and the reason, in both networks:
// connect to 10.0.0.1:80: Connection refused.
//
// Ownership. A connection owns written bytes until they are sent: the kernel uses no memory of cancelled operations.
//
// Lifetime. Connections, listeners and sockets belong to the loop on which they were made, and close when their last
// Reference is destroyed. When the loop ends, it closes them, and resets a connection that has unsent bytes: wait for
// flushed() or settled() before. After the end of the loop, pending futures stay pending; call only destructors.

#include "flow/base/seconds.h"
#include "flow/core/future.h"
#include "flow/loop/loop.h"
#include "net/connection.h"
#include "net/datagram_socket.h"
#include "net/listener.h"
#include "net/resolver.h"

#include <vector>

namespace flow::net {

/// The time at which a connection tries to receive. It changes the cost, never the bytes that are read.
enum class ReadStrategy : std::uint8_t {
    /// A read first tries to receive. If bytes are there, this saves a wait; if not, it wastes a system call.
    Speculative,
    /// A read tries to receive when the poller has reported bytes, and as long as the kernel fills the whole buffer.
    Reactive,
    /// Like Reactive, but the first read of an accepted connection tries to receive at once, if most such reads of the
    /// same listener have lately found bytes.
    Adaptive,
    /// The kernel receives ahead of the reads, into memory that all connections of the loop share, so a read needs no
    /// system call. This is for small messages; large messages are faster with the other strategies. When 256 KiB of a
    /// connection are unread, the kernel stops until a read needs more; up to 256 KiB more may arrive before it stops.
    /// Needs io_uring (FLOW_POLLER=uring) and Linux 6.12; without them, and for datagrams, Ahead is Adaptive.
    Ahead,
};

/// The options of a socket. A buffer size of 0: the system's default. A simulation uses only ConnectOptions::timeout.
struct SocketOptions {
    bool noDelay = true;    // small writes are sent without delay (TCP)
    bool keepAlive = false; // the kernel checks now and then whether the other side is there (TCP)
    // The times of keepAlive, rounded up to whole seconds; 0: the system's default (on Linux 7200 s, 75 s, 9 checks).
    Seconds keepAliveIdle = 0;     // the time without bytes before the first check
    Seconds keepAliveInterval = 0; // the time between checks without an answer
    int keepAliveProbes = 0;       // the checks without an answer after which the connection fails
    // If sent bytes are not confirmed for this time, the connection fails with connection_timed_out (TCP). With
    // keepAlive it replaces keepAliveProbes. Rounded up to milliseconds. 0: the system's default, about 15 minutes.
    Seconds userTimeout = 0;
    int sendBuffer = 0; // bytes in the kernel; by default 208 KiB if the peer is at a loopback address (TCP)
    int receiveBuffer = 0;
    ReadStrategy readStrategy = ReadStrategy::Adaptive;

    /// Throws invalid_option_value with a sentence: the option, its value and the rule. Both networks call this.
    void check() const;
};

struct ConnectOptions : SocketOptions {
    /// The local address; with port 0 the kernel chooses one.
    std::optional<Address> local;
    /// The seconds after which connect() fails with connection_timed_out, unless the kernel reports an error before.
    Seconds timeout = 30;

    void check() const;
};

struct ListenOptions : SocketOptions {
    int backlog = 1024;     // the most connections that wait to be accepted
    bool reusePort = false; // this user's sockets may share the address; the kernel distributes the connections
    bool onlyV6 = false;    // a listener at [::] takes no IPv4 connections

    void check() const;
};

struct DatagramOptions : SocketOptions {
    bool reusePort = false;
    bool onlyV6 = false;
    // For datagrams that are sent to a multicast group. They leave through the interface of the socket's bound address,
    // or of the scope of the group's address, or through one that the kernel chooses.
    int multicastHops = 1;     // 0: datagrams stay on this machine; 1: in the local network; at most 255
    bool multicastLoop = true; // members on this machine get the datagrams too

    void check() const;
};

class Transport {
public:
    /// Connects to `to`. Fails with connection_refused when no program listens there, connection_timed_out when there
    /// is no answer in time, host_unreachable when there is no route. If options.local cannot be used, fails with
    /// address_in_use, invalid_local_address, or unsupported_operation if its family is not the family of `to`.
    /// Cancel-safe: the attempt ends immediately; if the other side has already accepted the connection, the connection
    /// fails on that side.
    virtual Future<Reference<Connection>> connect(Address to, ConnectOptions const& options) = 0;
    Future<Reference<Connection>> connect(Address to) { return connect(to, ConnectOptions()); }
    /// Listens at `at`; port 0 means a free port. Throws address_in_use, invalid_local_address if this machine does not
    /// have the address, or not_allowed if only privileged programs may listen there. A Unix socket at a path is a
    /// file. The file must not exist, but a socket file of this user is replaced if no program listens there. The
    /// process that made the listener removes the file when the listener closes, unless another file has replaced it.
    virtual Reference<Listener> listen(Address at, ListenOptions const& options) = 0;
    Reference<Listener> listen(Address at) { return listen(at, ListenOptions()); }
    Reference<Listener> listen(std::uint16_t port) { return listen(Address(0, port)); }
    /// Opens a socket for datagrams; otherwise like listen(). Datagrams and connections have separate ports.
    virtual Reference<DatagramSocket> bind(Address at, DatagramOptions const& options) = 0;
    Reference<DatagramSocket> bind(Address at) { return bind(at, DatagramOptions()); }
    /// Opens one listener for each address, in the same order. If a listener cannot be opened, the others are closed
    /// and the Error is thrown. If the kernel has io_uring, many sockets are made with few system calls.
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
    /// Like listen() and bind(), but as a future that is always ready: the poller gets the socket at the first wait.
    Future<Reference<Listener>> listenAsync(Address at, ListenOptions const& options = {}) {
        return futureOf([&] { return listen(at, options); });
    }
    Future<Reference<DatagramSocket>> bindAsync(Address at, DatagramOptions const& options = {}) {
        return futureOf([&] { return bind(at, options); });
    }
    /// Returns a future that is ready when closed connections have sent or discarded their written bytes. If the loop
    /// ends earlier, the connections that still send are reset.
    virtual Future<Void> settled() { return Void(); }
    /// Returns an address of this machine to which other machines can connect. Its port is 0.
    virtual Address localAddress() const = 0;
    /// Returns the resolver, which finds the addresses of names; see also net/connect.h.
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

/// Makes a RealNetwork for the current loop, which must be a RealLoop. The loop destroys the network when it ends.
Transport& makeRealTransport();

/// Returns the transport of the current loop. If there is none, the loop must be a RealLoop, and a RealNetwork is made.
inline Transport& transport() {
    Transport* transport = Loop::current().service<Transport>();
    if (transport) [[likely]]
        return *transport;
    return makeRealTransport();
}

} // namespace flow::net
