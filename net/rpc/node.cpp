// The node of a loop makes peers and ends them.
//
// connecting_ has a peer for each address to which this process sends, with a coroutine keepConnected(). It waits until
// something is to be sent, connects, and runs the connection. After its end, replace() makes the next peer, and waiters
// send again to it. The pause before the next attempt grows after each failure. If nothing is sent during a pause, the
// peer is removed. accepted_ has a peer for each accepted connection; serve() runs it.
//
// heldBytes_ is the memory of all accepted peers: see disconnectLargest(). close() ends all coroutines before it shuts
// down the peers.

#include "net/rpc/node.h"

#include "flow/base/format.h"
#include "flow/base/random.h"
#include "flow/wait/delay.h"

#include <algorithm>

namespace flow::net {
namespace {

RpcOptions const& checked(RpcOptions const& options) {
    using Time = std::pair<char const*, double>;
    for (auto [option, value] :
         {Time("connectTimeout", options.connectTimeout), Time("greetingTimeout", options.greetingTimeout),
          Time("pingInterval", options.pingInterval), Time("pingTimeout", options.pingTimeout),
          Time("reconnectMin", options.reconnectMin), Time("reconnectMax", options.reconnectMax)})
        if (!(value > 0))
            throw wrongOption("RpcOptions", option, format("%g", value), "it must be more than 0");
    return options;
}

} // namespace

rpc::Node::Node(RpcOptions options) : options_(checked(options)), loop_(Loop::current()) {
    FLOW_ASSERT(!loop_.service<rpc::Node>(), "the loop has an rpc::Node already");
    loop_.provide<rpc::Node>(this);
    held_.reset();
    end = [](LoopOwned* owned) {
        auto* self = static_cast<rpc::Node*>(owned);
        bool isHeap = self->isHeap_;
        self->close();
        if (isHeap)
            delete self;
    };
    loop_.add(*this);
}

rpc::Node::~Node() {
    close();
}

void rpc::Node::close() noexcept {
    if (std::exchange(isClosed_, true))
        return;
    if (isLinked())
        unlink();
    listening_.clear();
    running_.close();
    for (auto* peers : {&connecting_, &accepted_}) {
        for (auto& [address, peer] : *peers)
            peer->shutDown();
        peers->clear();
    }
    while (!held_.isEmpty()) {
        auto* each = static_cast<PendingReply*>(held_.next);
        each->ListLink::unlink();
        each->abandoned();
    }
    if (loop_.service<rpc::Node>() == this)
        loop_.provide<rpc::Node>(nullptr);
}

rpc::Node& rpc::Node::current() {
    if (rpc::Node* known = Loop::current().service<rpc::Node>()) [[likely]]
        return *known;
    return ofLoop();
}

rpc::Node& rpc::Node::ofLoop(RpcOptions options) {
    auto* made = new rpc::Node(std::move(options));
    made->isHeap_ = true;
    return *made;
}

Future<Void> rpc::Node::bind(Address publicAddress, Address listenAddress) {
    Reference<Listener> listener;
    try {
        listener = options_.listen ? options_.listen(listenAddress) : net::transport().listen(listenAddress, {});
    } catch (...) {
        return currentError();
    }
    if (!publicAddress.isUnix() && publicAddress.port() == 0)
        publicAddress = publicAddress.withPort(listener->localAddress().port());
    if (addresses_.address == Address())
        addresses_.address = publicAddress;
    else
        addresses_.secondaryAddress = publicAddress;
    listening_.push_back(accept(std::move(listener)));
    return listening_.back();
}

/// Begins in a later step: a connection may wait already, and the caller of bind() must first call rpc::serve(). If an
/// allocation fails, only one connection is lost.
Future<Void> rpc::Node::accept(Reference<Listener> listener) {
    co_await delay(0);
    for (;;) {
        try {
            begin(co_await listener->accept());
        } catch (std::bad_alloc&) {
        }
    }
}

void rpc::Node::begin(Reference<Connection> connection) {
    if (accepted_.size() >= options_.maxConnections) {
        ++counters_.refused;
        return connection->abort();
    }
    ++counters_.accepted;
    Address from = connection->peerAddress();
    if (from.isAny() || accepted_.contains(from)) // a client on a Unix socket has no name
        from = Address::unixAbstract("connection " + std::to_string(counters_.accepted));
    auto peer = makeReference<RpcPeer>(*this, RpcPeer::Side::Accepted, from, counters_.accepted);
    auto place = accepted_.emplace(from, peer).first;
    try {
        running_.spawn(serve(std::move(peer), std::move(connection)));
    } catch (...) {
        accepted_.erase(place);
        throw;
    }
}

Future<Void> rpc::Node::serve(Reference<RpcPeer> peer, Reference<Connection> connection) {
    Error error;
    try {
        co_await peer->run(std::move(connection));
    } catch (...) {
        error = currentError();
    }
    if (error.code() == error_code_actor_cancelled)
        throw error;
    accepted_.erase(peer->address());
    peer->lost(error);
}

/// If the peers hold more than peersBytes, disconnects the largest ones until the rest holds 7/8 of peersBytes. The
/// margin delays the next call, which sorts all peers again.
void rpc::Node::disconnectLargest() {
    std::vector<Reference<RpcPeer>> peers;
    try {
        peers.reserve(accepted_.size());
    } catch (std::bad_alloc&) { // changeHeld() will ask again
        return;
    }
    for (auto& [address, peer] : accepted_) {
        peer->releaseRoom();
        peers.push_back(peer);
    }
    if (heldBytes_ <= options_.peersBytes)
        return;
    auto isLarger = [](auto& a, auto& b) { return a->heldBytes() > b->heldBytes(); };
    std::sort(peers.begin(), peers.end(), isLarger);
    for (std::size_t i = 0; heldBytes_ > options_.peersBytes / 8 * 7 && i < peers.size(); ++i) {
        ++counters_.disconnected;
        peers[i]->disconnect();
    }
}

Future<Reference<Connection>> rpc::Node::connectTo(Address const& address) {
    if (options_.connect)
        return options_.connect(address);
    ConnectOptions connect;
    connect.timeout = options_.connectTimeout;
    return net::transport().connect(address, connect);
}

/// Connects to the peer's address again and again, even if an allocation fails: otherwise requests would wait forever.
/// Ends if nothing was sent during a pause, or without memory for the next peer.
Future<Void> rpc::Node::keepConnected(Reference<RpcPeer> peer) {
    double pause = options_.reconnectMin, wait = 0;
    for (;;) {
        Error error;
        try {
            if (wait > 0) {
                co_await delay(std::exchange(wait, 0));
                if (!peer->isWanted()) {
                    connecting_.erase(peer->address());
                    peer->shutDown();
                    co_return;
                }
            }
            while (!peer->isWanted())
                co_await peer->wanted.next();
            Reference<Connection> connection = co_await connectTo(peer->address());
            ++counters_.connected;
            double begin = now();
            ErrorOr<Void> ended = co_await tryGet(peer->run(std::move(connection)));
            error = ended.getError();
            if (now() - begin > options_.reconnectMax)
                pause = options_.reconnectMin;
        } catch (...) {
            error = currentError();
        }
        if (error.code() == error_code_actor_cancelled)
            throw error;
        try {
            monitor_.setStatus(peer->address(), FailureStatus(true));
            monitor_.notifyDisconnect(peer->address());
        } catch (std::bad_alloc&) { // the address stays available
        }
        peer = replace(peer, error);
        if (!peer)
            co_return;
        wait = pause * (0.5 + deterministicRandom()->random01());
        pause = std::min<double>(pause * 2, options_.reconnectMax);
    }
}

/// Returns the peer of the next connection; the waiters send again to this peer. Null if there is no memory.
Reference<RpcPeer> rpc::Node::replace(Reference<RpcPeer> const& ended, Error error) {
    auto place = connecting_.find(ended->address());
    try {
        place->second = makeReference<RpcPeer>(*this, RpcPeer::Side::Connecting, ended->address());
    } catch (std::bad_alloc&) { // the next request makes a new peer
        connecting_.erase(place);
        ended->lost(error);
        return {};
    }
    Reference<RpcPeer> next = place->second;
    ended->lost(error);
    return next;
}

bool rpc::Node::isLocal(Endpoint const& endpoint) const {
    if (endpoint.isByConnection)
        return false;
    Address const& address = endpoint.getPrimaryAddress();
    return address == Address() || (addresses_.address != Address() && addresses_.contains(address));
}

bool Endpoint::isLocal() const {
    return rpc::Node::current().isLocal(*this);
}

Reference<RpcPeer> rpc::Node::peerOf(Endpoint const& endpoint) {
    Address const& address = endpoint.getPrimaryAddress();
    if (endpoint.isByConnection) {
        auto found = accepted_.find(address);
        bool isIt = found != accepted_.end() && found->second->number() == endpoint.connection;
        return isIt ? found->second : Reference<RpcPeer>();
    }
    auto place = connecting_.find(address);
    if (place != connecting_.end())
        return place->second;
    auto peer = makeReference<RpcPeer>(*this, RpcPeer::Side::Connecting, address);
    connecting_.emplace(address, peer);
    try {
        running_.spawn(keepConnected(std::move(peer)));
    } catch (...) { // otherwise nothing would connect the peer
        connecting_.erase(address);
        throw;
    }
    place = connecting_.find(address); // the peer may have failed already, and be replaced or removed
    return place == connecting_.end() ? Reference<RpcPeer>() : place->second;
}

std::size_t rpc::Node::queuedBytes(Address const& address) const {
    auto place = connecting_.find(address);
    return place == connecting_.end() ? 0 : place->second->queuedBytes();
}

Future<Void> rpc::Node::drainedTo(Address const& address, std::size_t bytes) const {
    auto place = connecting_.find(address);
    return place == connecting_.end() ? Future<Void>(Void()) : RpcPeer::drained(place->second, bytes);
}

std::span<std::uint8_t> rpc::Node::scratch() {
    if (scratch_.empty())
        scratch_.resize(kScratch);
    return scratch_;
}

} // namespace flow::net
