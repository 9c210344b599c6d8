#pragma once
// FlowTransport: this process as others reach it, and the way to them: what RequestStream and ReplyPromise go over.
//
//     FlowTransport transport;                                       // of this loop, from here on
//     Future<Void> listening = transport.bind(address, address);     // a server; fails when it cannot listen there
//     Future<Void> served = serveStore();
//     loop.run(listening || served);
//
// It uses net::transport(), so that the same program runs on sockets and on the simulated network. A process without
// one gets one, which only connects, when it first sends; it ends with the loop.
//
// To each address there is one connection, made when something is first sent there, and again when it has ended and
// somebody waits for a reply. A process that connects here gets its replies over its own connection.
//
// What a hostile peer can do: its frames are checked against limits and checksums, its messages against their types; a
// frame that is wrong ends the connection, and a message that is wrong gets the error serialization_failed as its
// reply. Memory: a peer that does not read is not read from any more while RpcOptions::unsentBytes wait for it, and one
// whose requests nobody takes while RpcOptions::backlogBytes of them wait. At most maxConnections others may be
// connected. Replies are only taken from the peer that was asked.
//
// Thread: that of its loop. Destroying it closes all connections, and those who wait for replies wait for ever.

#include "flow/lib/collection.h"
#include "flow/loop/loop_machine.h"
#include "net/rpc/endpoint.h"
#include "net/rpc/failure_monitor.h"
#include "net/rpc/receiver.h"
#include "net/rpc/rpc_peer.h"
#include "net/transport.h"

#include <functional>
#include <map>

namespace flow::net {

struct RpcOptions {
    /// Programs whose versions differ in more than the lowest 16 bits do not talk.
    ProtocolVersion version = currentProtocolVersion();
    /// False where the connection protects its bytes itself, as TLS does. Both sides need to agree.
    bool hasChecksums = true;
    std::uint32_t largestMessage = 64 * 1024 * 1024;
    std::size_t unsentBytes = 4 * 1024 * 1024;
    std::size_t backlogBytes = 16 * 1024 * 1024;
    /// Others that may be connected to this process at a time; those beyond are disconnected at once.
    std::size_t maxConnections = 10'000;
    // Seconds.
    double connectTimeout = 5;
    double greetingTimeout = 10;
    /// Somebody who waits for a reply while nothing comes asks every so often whether the other side is there...
    double pingInterval = 1;
    /// ...and gives the connection up after this silence. Idle accepted connections: after sixty times that.
    double pingTimeout = 4;
    double reconnectMin = 0.05;
    double reconnectMax = 1;
    /// How to connect and listen; by default as transport() does.
    std::function<Future<Reference<Connection>>(Address const&)> connect = {};
    std::function<Reference<Listener>(Address const&)> listen = {};
};

struct RpcCounters {
    std::uint64_t framesSent = 0, framesReceived = 0;
    std::uint64_t flushes = 0;
    std::uint64_t connected = 0, accepted = 0, refused = 0;
    std::uint64_t unknownEndpoints = 0;  // messages to tokens that are none, or not for that peer
    std::uint64_t malformedMessages = 0; // whose bytes were not what their receiver expects
    std::uint64_t brokenConnections = 0; // ended by a frame or a greeting that was wrong
};

class FlowTransport : LoopOwned, NonCopyable {
public:
    /// Becomes the current loop's; there must be none.
    explicit FlowTransport(RpcOptions options = {});
    ~FlowTransport();

    /// The current loop's, which is made if there is none.
    static FlowTransport& transport();
    /// The same, but there must be none, and it ends with the loop. The arguments are those that programs know:
    /// `isClient` and `id` do not matter here, and well-known endpoints have any number up to
    /// EndpointTable::kLargestNumber.
    static FlowTransport& createInstance(bool isClient, std::uint64_t id, int maxWellKnownEndpoints,
                                         RpcOptions options = {});

    /// Listens. `publicAddress` is what others are told; if its port is 0, the one that was chosen. The future is not
    /// ready as long as this listens, and fails with the errors of Transport::listen(). Dropping it changes nothing.
    Future<Void> bind(Address publicAddress, Address listenAddress);
    /// Where others reach this process; Address() if nowhere.
    Address const& getLocalAddress() const { return addresses_.address; }
    NetworkAddressList const& getLocalAddresses() const { return addresses_; }

    RpcOptions const& options() const { return options_; }
    RpcCounters const& counters() const { return counters_; }
    FailureMonitor& failureMonitor() { return monitor_; }
    /// Connections that others have made to this process.
    std::size_t connections() const { return accepted_.size(); }

    // For net/rpc.

    EndpointTable& endpoints() { return endpoints_; }
    bool isLocal(Endpoint const& endpoint) const;
    /// Null if it is by a connection that has ended.
    Reference<RpcPeer> peerOf(Endpoint const& endpoint);
    RpcCounters& count() { return counters_; }
    /// For one turn of a peer that reads.
    std::span<std::uint8_t> scratch();

private:
    friend class PendingReply;
    friend class RpcPeer;
    static constexpr std::size_t kScratch = 64 * 1024;

    /// All connections are closed, and nothing is done any more.
    void close() noexcept;
    Future<Void> accept(Reference<Listener> listener);
    Future<Void> serve(Reference<RpcPeer> peer, Reference<Connection> connection);
    Future<Void> keepConnected(Reference<RpcPeer> peer);
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
    ListLink held_; // replies whose turn is to come
    std::vector<std::uint8_t> scratch_;
    ActorCollectionNoErrors running_;
    std::vector<Future<Void>> listening_;
};

} // namespace flow::net
