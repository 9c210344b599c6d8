#pragma once
// rpc::Node: the connections to other processes, for rpc::call(), rpc::serve() and RequestStream.
//
//     net::rpc::Node node;                                          // the node of this loop from now on
//     Future<Void> listening = node.listen(address);                 // a server; fails if it cannot listen
//     Future<Void> served = serveStore();
//     loop.run(listening || served);
//
// A node uses net::transport(), so it works on sockets and on the simulated network. If a loop without a node sends a
// request, the loop gets a node that only connects, and that ends with the loop.
//
// A node makes one connection to each address, when it first sends something to this address. If the connection ends
// while a request waits for its reply, the node connects again. Processes that connect to this node get replies over
// their own connections.
//
// A node is safe from hostile peers. It checks frames against limits and checksums, and messages against their types. A
// wrong frame ends the connection. A wrong message is answered with serialization_failed. A reply counts only if it
// comes from the peer that got the request. The options limit the memory, for any number of peers and any messages:
//
//     a message                    its bytes; and for the elements of its containers, kElements bytes plus
//                                  elementsPerByte times the bytes of the message
//     a stream of requests         backlogBytes, plus one request; above that, the node reads from no peer that
//                                  sends to the stream, until the requests are taken
//     handlers of a name           backlogBytes, plus one request; at most ServeOptions::atATime handlers run
//     replies to one peer          unsentBytes; above that, the node does not read from the peer, and disconnects a
//                                  peer that takes no replies for 60 * pingTimeout
//     all peers that connect here  peersBytes, for replies and for incomplete and waiting frames; above that, the node
//                                  disconnects the peers that need the most
//     connections                  maxConnections
//
// A node belongs to the thread of its loop. The destructor closes all connections. Awaited replies then never arrive.

#include "flow/base/non_copyable.h"
#include "flow/base/seconds.h"
#include "flow/loop/detail/loop_machine.h"
#include "flow/loop/turn.h"
#include "flow/tasks/scope.h"
#include "net/rpc/detail/receiver.h"
#include "net/rpc/detail/rpc_peer.h"
#include "net/rpc/endpoint.h"
#include "net/rpc/failure_monitor.h"
#include "net/transport.h"

#include <functional>
#include <map>

namespace flow::net {

struct RpcOptions {
    /// Programs refuse to connect if their versions differ above the lowest 16 bits.
    ProtocolVersion version = currentProtocolVersion();
    /// Set to false if the connection protects its bytes itself, as TLS does. Both sides must have the same value.
    bool hasChecksums = true;
    /// The most bytes of a message. A larger message fails with value_too_large. Each side applies its own limit.
    std::uint32_t largestMessage = 64 * 1024 * 1024;
    /// Limits the memory of a message's containers: a few bytes may become many large elements. If the elements need
    /// more than kElements bytes and elementsPerByte times the message's bytes, the message fails with value_too_large.
    std::uint32_t elementsPerByte = 16;
    static constexpr std::size_t kElements = 256 * 1024;
    std::size_t unsentBytes = 4 * 1024 * 1024;
    std::size_t backlogBytes = 16 * 1024 * 1024;
    std::size_t peersBytes = 1024 * 1024 * 1024;
    /// The most connections to this process at a time. Further connections are closed immediately.
    std::size_t maxConnections = 10'000;
    Seconds connectTimeout = 5;
    Seconds greetingTimeout = 10;
    /// The interval of pings while a reply is awaited and nothing is received.
    Seconds pingInterval = 1;
    /// A connection is closed after this time of silence while a reply is awaited. An idle accepted connection is
    /// closed after 60 times this time.
    Seconds pingTimeout = 4;
    Seconds reconnectMin = 0.05;
    Seconds reconnectMax = 1;
    /// If not null, the node calls these functions instead of connect() and listen() of transport().
    std::function<Future<Reference<Connection>>(Address const&)> connect = {};
    std::function<Reference<Listener>(Address const&)> listen = {};
};

struct RpcCounters {
    std::uint64_t framesSent = 0, framesReceived = 0;
    std::uint64_t flushes = 0;
    std::uint64_t connected = 0, accepted = 0, refused = 0;
    std::uint64_t unknownEndpoints = 0;  // messages with an unknown token, or with the token of another peer
    std::uint64_t malformedMessages = 0; // messages of a wrong type, or too large
    std::uint64_t brokenConnections = 0; // connections that ended by a wrong frame or greeting
    std::uint64_t disconnected = 0;      // connections that the node ended because of RpcOptions::peersBytes
};

namespace rpc {

class Node : LoopOwned, NonCopyable {
public:
    /// Becomes the node of the current loop, which must have none. Throws invalid_option_value if a time is not more
    /// than 0.
    explicit Node(RpcOptions options = {});
    ~Node();

    /// Returns the node of the current loop; makes one if there is none.
    static Node& current();
    /// Makes the node of the current loop, which must have none. It ends with the loop.
    static Node& ofLoop(RpcOptions options = {});

    /// Listens at `listenAddress`. Endpoints that this process sends have `publicAddress`. If its port is 0, they have
    /// the port of the listener. The future stays pending, or fails with the errors of Transport::listen(). Dropping
    /// the future does not end the listening. The node accepts connections from the next step of the loop on, so the
    /// caller can still make endpoints and call rpc::serve() before the first request.
    Future<Void> bind(Address publicAddress, Address listenAddress);
    Future<Void> listen(Address const& at) { return bind(at, at); }
    /// Returns the public address; Address() if this process does not listen.
    Address const& getLocalAddress() const { return addresses_.address; }
    NetworkAddressList const& getLocalAddresses() const { return addresses_; }

    RpcOptions const& options() const { return options_; }
    RpcCounters const& counters() const { return counters_; }
    FailureMonitor& failureMonitor() { return monitor_; }
    /// Returns the number of accepted connections.
    std::size_t connections() const { return accepted_.size(); }
    /// Returns the number of bytes that wait to be sent to the process that listens at `address`.
    std::size_t queuedBytes(Address const& address) const;
    /// Waits until queuedBytes() is at most `bytes`, or until the connection has ended or cannot be made. Fast senders
    /// use it to limit their memory.
    Future<Void> drainedTo(Address const& address, std::size_t bytes) const;
    /// Returns the bytes that count for RpcOptions::peersBytes.
    std::size_t heldBytes() const { return heldBytes_; }

    // Only net/rpc uses these functions.

    EndpointTable& endpoints() { return endpoints_; }
    bool isLocal(Endpoint const& endpoint) const;
    /// Runs `work`, for which no other code waits, until `work` or the node ends.
    void hold(Future<Void> work) { running_.spawn(std::move(work)); }
    /// Returns the peer for `endpoint`. Returns null if the endpoint's connection has ended, or if a new peer ends at
    /// once.
    Reference<RpcPeer> peerOf(Endpoint const& endpoint);
    RpcCounters& count() { return counters_; }
    void changeHeld(std::size_t before, std::size_t after) {
        heldBytes_ = heldBytes_ + after - before;
        if (heldBytes_ > options_.peersBytes)
            disconnecting_.ask(loop_, TaskPriority::Max);
    }
    /// True if memory is short: then reads are small, and few replies may wait.
    bool isShort() const { return heldBytes_ > options_.peersBytes / 16; }
    /// Returns the receive buffer that all peers share. Its size limits one read.
    std::span<std::uint8_t> scratch();

private:
    friend class net::PendingReply;
    friend class net::RpcPeer;
    static constexpr std::size_t kScratch = 64 * 1024;

    void close() noexcept;
    void disconnectLargest();
    Future<Void> accept(Reference<Listener> listener);
    void begin(Reference<Connection> connection);
    Future<Void> serve(Reference<RpcPeer> peer, Reference<Connection> connection);
    Future<Void> keepConnected(Reference<RpcPeer> peer);
    Reference<RpcPeer> replace(Reference<RpcPeer> const& ended, Error error);
    Future<Reference<Connection>> connectTo(Address const& address);

    RpcOptions options_;
    bool isHeap_ = false, isClosed_ = false;
    Loop& loop_;
    NetworkAddressList addresses_;
    EndpointTable endpoints_;
    RpcCounters counters_;
    FailureMonitor monitor_;
    std::map<Address, Reference<RpcPeer>> connecting_; // peers to which this process connects
    std::map<Address, Reference<RpcPeer>> accepted_;
    struct Disconnecting : Turn {
        explicit Disconnecting(Node& n)
            : Turn([](Turn& self) { static_cast<Disconnecting&>(self).node.disconnectLargest(); }), node(n) {}
        Node& node;
    } disconnecting_{*this};
    std::size_t heldBytes_ = 0;
    ListLink held_; // waiters with a reply that a later turn delivers
    std::vector<std::uint8_t> scratch_;
    Scope running_{OnError::Report};
    std::vector<Future<Void>> listening_;
};

} // namespace rpc

} // namespace flow::net
