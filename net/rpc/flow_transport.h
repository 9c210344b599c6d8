#pragma once
// FlowTransport: the connections to other processes, for rpc::call(), rpc::serve() and RequestStream.
//
//     FlowTransport transport;                                       // of this loop, from here on
//     Future<Void> listening = transport.listen(address);            // a server; fails when it cannot listen there
//     Future<Void> served = serveStore();
//     loop.run(listening || served);
//
// It uses net::transport(), so that the same program runs on sockets and on the simulated network. If a process sends
// without one, one is made that only connects; it ends with the loop.
//
// There is one connection to each address. It is made when something is first sent there, and again when it has ended
// and a request waits for a reply. A process that connects here gets its replies over its own connection.
//
// Hostile peers. Frames are checked against limits and checksums, messages against their types. A wrong frame ends the
// connection; a wrong message gets the error serialization_failed as its reply. A reply is only accepted from the peer
// that got the request. Memory is bounded by the options, however many peers there are and whatever they send:
//
//     a message                    its bytes, and for the elements of its containers elementsPerByte times as much, and
//                                  kElements
//     a stream of requests         backlogBytes, and one request; no peer that sends to it is read until they are taken
//     handlers of a name       backlogBytes of requests, and one request; their number is ServeOptions::atATime
//     replies to one peer          unsentBytes wait before it is not read any more; it is disconnected if it takes none
//                                  for 60 * pingTimeout
//     all peers that connect here  peersBytes, of incomplete and waiting frames and of replies; beyond that, those with
//                                  the most are disconnected
//     connections                  maxConnections
//
// Belongs to the thread of its loop. Destroying it closes all connections; replies that are awaited then never arrive.

#include "flow/loop/loop_machine.h"
#include "flow/loop/turn.h"
#include "flow/tasks/collection.h"
#include "net/rpc/endpoint.h"
#include "net/rpc/failure_monitor.h"
#include "net/rpc/receiver.h"
#include "net/rpc/rpc_peer.h"
#include "net/transport.h"

#include <functional>
#include <map>

namespace flow::net {

struct RpcOptions {
    /// Programs with versions that differ in more than the lowest 16 bits refuse to connect.
    ProtocolVersion version = currentProtocolVersion();
    /// False if the connection protects its bytes itself, as TLS does. Both sides must agree.
    bool hasChecksums = true;
    /// A larger request, or answer, fails with value_too_large; each side applies its own limit.
    std::uint32_t largestMessage = 64 * 1024 * 1024;
    /// A few bytes may stand for a large struct. The elements of a message's containers may need kElements bytes of
    /// memory, and so many times the message's bytes; a message that needs more fails with value_too_large.
    std::uint32_t elementsPerByte = 16;
    static constexpr std::size_t kElements = 256 * 1024;
    std::size_t unsentBytes = 4 * 1024 * 1024;
    std::size_t backlogBytes = 16 * 1024 * 1024;
    std::size_t peersBytes = 1024 * 1024 * 1024;
    /// The number of peers that may be connected to this process at a time; further ones are disconnected at once.
    std::size_t maxConnections = 10'000;
    // Seconds.
    double connectTimeout = 5;
    double greetingTimeout = 10;
    /// While a reply is awaited and nothing is received, a ping is sent after each such interval...
    double pingInterval = 1;
    /// ...and the connection is closed after this silence; an idle accepted connection after sixty times that.
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
    std::uint64_t brokenConnections = 0; // ended by a frame or a greeting that was wrong
    std::uint64_t disconnected = 0;      // since all held more than RpcOptions::peersBytes
};

class FlowTransport : LoopOwned, NonCopyable {
public:
    /// Becomes the transport of the current loop, which must have none. Throws invalid_option_value for a time that is
    /// not more than 0.
    explicit FlowTransport(RpcOptions options = {});
    ~FlowTransport();

    /// The transport of the current loop, made if there is none.
    static FlowTransport& transport();
    static FlowTransport& current() { return transport(); }
    /// Makes one that ends with the loop, which must have none. The arguments are those of Flow: `isClient` and `id`
    /// have no effect, and well-known endpoints have any number up to EndpointTable::kLargestNumber.
    static FlowTransport& createInstance(bool isClient, std::uint64_t id, int maxWellKnownEndpoints,
                                         RpcOptions options = {});

    /// Listens. Others get `publicAddress`; a port of 0 there becomes the chosen one. The future is not ready as long
    /// as this listens, and fails with the errors of Transport::listen(). Dropping it changes nothing.
    Future<Void> bind(Address publicAddress, Address listenAddress);
    /// Listens at the address at which others reach this process.
    Future<Void> listen(Address const& at) { return bind(at, at); }
    /// The address at which others reach this process; Address() if it does not listen.
    Address const& getLocalAddress() const { return addresses_.address; }
    NetworkAddressList const& getLocalAddresses() const { return addresses_; }

    RpcOptions const& options() const { return options_; }
    RpcCounters const& counters() const { return counters_; }
    FailureMonitor& failureMonitor() { return monitor_; }
    /// Connections that others have made to this process.
    std::size_t connections() const { return accepted_.size(); }
    /// Bytes that wait to be sent to the process that listens at this address, of all requests to it.
    std::size_t queuedBytes(Address const& address) const;
    /// Ready when no more than so many of them are left, for callers that are faster than the other process.
    Future<Void> drainedTo(Address const& address, std::size_t bytes) const;
    /// The bytes that count for RpcOptions::peersBytes.
    std::size_t heldBytes() const { return heldBytes_; }

    // For net/rpc.

    EndpointTable& endpoints() { return endpoints_; }
    bool isLocal(Endpoint const& endpoint) const;
    /// Null if the endpoint is by a connection that has ended.
    Reference<RpcPeer> peerOf(Endpoint const& endpoint);
    RpcCounters& count() { return counters_; }
    void changeHeld(std::size_t before, std::size_t after) {
        heldBytes_ = heldBytes_ + after - before;
        if (heldBytes_ > options_.peersBytes)
            disconnecting_.ask(loop_, TaskPriority::Max);
    }
    /// True if memory is short: reads are small, and few replies may wait.
    bool isShort() const { return heldBytes_ > options_.peersBytes / 16; }
    /// The limit for one turn of a peer that reads.
    std::span<std::uint8_t> scratch();

private:
    friend class PendingReply;
    friend class RpcPeer;
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
    std::map<Address, Reference<RpcPeer>> connecting_; // those that this process connects to
    std::map<Address, Reference<RpcPeer>> accepted_;
    struct Disconnecting : Turn {
        explicit Disconnecting(FlowTransport& t)
            : Turn([](Turn& self) { static_cast<Disconnecting&>(self).transport.disconnectLargest(); }), transport(t) {}
        FlowTransport& transport;
    } disconnecting_{*this};
    std::size_t heldBytes_ = 0;
    ListLink held_; // replies that will be completed in a later turn
    std::vector<std::uint8_t> scratch_;
    ActorCollectionNoErrors running_;
    std::vector<Future<Void>> listening_;
};

} // namespace flow::net
