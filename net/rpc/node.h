#pragma once
// rpc::Node: the connections to other processes, for rpc::call(), rpc::serve() and RequestStream.
//
//     net::rpc::Node node;                                          // the node of this loop, from here on
//     Future<Void> listening = node.listen(address);                 // a server; fails when it cannot listen there
//     Future<Void> served = serveStore();
//     loop.run(listening || served);
//
// A node uses net::transport(), so that the same program runs on sockets and on the simulated network. If a loop
// without a node sends a request, it gets a node that only connects. That node ends with the loop.
//
// There is one connection to each address. It is made when something is first sent to the address, and again when it
// has ended and a request waits for a reply. A process that connects to this node gets its replies over that
// connection.
//
// Hostile peers. Frames are checked against limits and checksums, messages against their types. A wrong frame ends the
// connection; a wrong message gets the error serialization_failed as its reply. A reply is only accepted from the peer
// that got the request. Memory is bounded by the options, however many peers there are and whatever they send:
//
//     a message                    its bytes; and for the elements of its containers kElements, and elementsPerByte
//                                  times its bytes
//     a stream of requests         backlogBytes, and one request; then no peer that sends to the stream is read until
//                                  the requests are taken
//     handlers of a name           backlogBytes of requests, and one request; their number is ServeOptions::atATime
//     replies to one peer          unsentBytes; then the peer is not read any more, and it is disconnected if it takes
//                                  none for 60 * pingTimeout
//     all peers that connect here  peersBytes, of incomplete and waiting frames and of replies; beyond that, the peers
//                                  with the most are disconnected
//     connections                  maxConnections
//
// A node belongs to the thread of its loop. Destroying a node closes all connections; replies that are awaited then
// never arrive.

#include "flow/base/non_copyable.h"
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
    /// The version of this program. Programs refuse to connect if their versions differ above the lowest 16 bits.
    ProtocolVersion version = currentProtocolVersion();
    /// Set it to false if the connection protects its bytes itself, as TLS does. Both sides must agree.
    bool hasChecksums = true;
    /// The most bytes of a request or answer. A larger one fails with value_too_large. Each side applies its own limit.
    std::uint32_t largestMessage = 64 * 1024 * 1024;
    /// A few bytes may become a large struct. So the elements of a message's containers may need only kElements bytes
    /// of memory and elementsPerByte times the message's bytes. If they need more, the message fails with
    /// value_too_large.
    std::uint32_t elementsPerByte = 16;
    static constexpr std::size_t kElements = 256 * 1024;
    std::size_t unsentBytes = 4 * 1024 * 1024;
    std::size_t backlogBytes = 16 * 1024 * 1024;
    std::size_t peersBytes = 1024 * 1024 * 1024;
    /// The number of peers that may be connected to this process at a time. Further peers are disconnected at once.
    std::size_t maxConnections = 10'000;
    // Seconds.
    double connectTimeout = 5;
    double greetingTimeout = 10;
    /// The interval at which a ping is sent while a reply is awaited and nothing is received.
    double pingInterval = 1;
    /// The silence after which a connection is closed while a reply is awaited; for an idle accepted one, 60 times
    /// this.
    double pingTimeout = 4;
    double reconnectMin = 0.05;
    double reconnectMax = 1;
    /// The functions to connect and to listen; by default those of transport().
    std::function<Future<Reference<Connection>>(Address const&)> connect = {};
    std::function<Reference<Listener>(Address const&)> listen = {};
};

struct RpcCounters {
    std::uint64_t framesSent = 0, framesReceived = 0;
    std::uint64_t flushes = 0;
    std::uint64_t connected = 0, accepted = 0, refused = 0;
    std::uint64_t unknownEndpoints = 0;  // messages to unknown tokens, or to tokens of another peer
    std::uint64_t malformedMessages = 0; // messages that do not fit the receiver's type, or are too large
    std::uint64_t brokenConnections = 0; // connections ended by a wrong frame or greeting
    std::uint64_t disconnected = 0;      // peers disconnected because of RpcOptions::peersBytes
};

namespace rpc {

class Node : LoopOwned, NonCopyable {
public:
    /// Makes this the node of the current loop, which must have none. Throws invalid_option_value for a time
    /// that is not more than 0.
    explicit Node(RpcOptions options = {});
    ~Node();

    /// Returns the node of the current loop. Makes one if there is none.
    static Node& current();
    /// Makes a node for the current loop, which must have none. The node ends with the loop.
    static Node& ofLoop(RpcOptions options = {});

    /// Listens at `listenAddress`. Others get `publicAddress`; if its port is 0, it becomes the chosen port. The future
    /// is not ready while the node listens, and fails with the errors of Transport::listen(). Dropping it changes
    /// nothing.
    Future<Void> bind(Address publicAddress, Address listenAddress);
    /// Listens at the address at which others reach this process.
    Future<Void> listen(Address const& at) { return bind(at, at); }
    /// Returns the address at which others reach this process; Address() if it does not listen.
    Address const& getLocalAddress() const { return addresses_.address; }
    NetworkAddressList const& getLocalAddresses() const { return addresses_; }

    RpcOptions const& options() const { return options_; }
    RpcCounters const& counters() const { return counters_; }
    FailureMonitor& failureMonitor() { return monitor_; }
    /// Returns the number of connections that others have made to this process.
    std::size_t connections() const { return accepted_.size(); }
    /// Returns the bytes of all requests that wait to be sent to the process that listens at `address`.
    std::size_t queuedBytes(Address const& address) const;
    /// Waits until at most `bytes` of these bytes are left. This is for callers that are faster than the other process.
    Future<Void> drainedTo(Address const& address, std::size_t bytes) const;
    /// Returns the bytes that count for RpcOptions::peersBytes.
    std::size_t heldBytes() const { return heldBytes_; }

    // Only net/rpc uses these functions.

    EndpointTable& endpoints() { return endpoints_; }
    bool isLocal(Endpoint const& endpoint) const;
    /// Returns the peer for messages to `endpoint`. Null if `endpoint` is reached by a connection that has ended.
    Reference<RpcPeer> peerOf(Endpoint const& endpoint);
    RpcCounters& count() { return counters_; }
    void changeHeld(std::size_t before, std::size_t after) {
        heldBytes_ = heldBytes_ + after - before;
        if (heldBytes_ > options_.peersBytes)
            disconnecting_.ask(loop_, TaskPriority::Max);
    }
    /// True if memory is short. Then reads are small, and few replies may wait.
    bool isShort() const { return heldBytes_ > options_.peersBytes / 16; }
    /// Returns the buffer into which peers receive, one at a time. Its size limits what one peer reads in a turn.
    std::span<std::uint8_t> scratch();

private:
    friend class net::PendingReply;
    friend class net::RpcPeer;
    static constexpr std::size_t kScratch = 64 * 1024;

    /// Closes all connections and stops.
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
    std::map<Address, Reference<RpcPeer>> connecting_; // the peers to which this process connects
    std::map<Address, Reference<RpcPeer>> accepted_;
    struct Disconnecting : Turn {
        explicit Disconnecting(Node& n)
            : Turn([](Turn& self) { static_cast<Disconnecting&>(self).node.disconnectLargest(); }), node(n) {}
        Node& node;
    } disconnecting_{*this};
    std::size_t heldBytes_ = 0;
    ListLink held_; // replies that will be completed in a later turn
    std::vector<std::uint8_t> scratch_;
    Scope running_{OnError::Report};
    std::vector<Future<Void>> listening_;
};

} // namespace rpc

} // namespace flow::net
