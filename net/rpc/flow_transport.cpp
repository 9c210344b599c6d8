// The transport of a loop: its peers, and how they are made and end.
//
// connecting_ has a peer for each address that this process sends to; keepConnected() is its coroutine. It waits until
// something is to be sent, connects, runs the connection, and after its end puts a new peer in its place (replace()),
// to which waiters send again; it pauses longer after each failure, and removes the peer if nothing was sent during the
// pause. accepted_ has a peer for each connection from outside; serve() runs it once.
//
// Memory of accepted peers is counted (heldBytes_); above peersBytes disconnectLargest() ends those with the most.
// close() ends all coroutines before it shuts down the peers.

#include "net/rpc/flow_transport.h"

#include "flow/base/random.h"
#include "flow/combine/race.h"
#include "flow/wait/delay.h"

#include <algorithm>

namespace flow::net {

FlowTransport::FlowTransport(RpcOptions options) : options_(std::move(options)), loop_(Loop::current()) {
    FLOW_ASSERT(!loop_.service<FlowTransport>(), "the loop has a FlowTransport already");
    loop_.provide<FlowTransport>(this);
    held_.reset();
    end = [](LoopOwned* owned) {
        auto* self = static_cast<FlowTransport*>(owned);
        bool isHeap = self->isHeap_;
        self->close();
        if (isHeap)
            delete self;
    };
    loop_.add(*this);
}

FlowTransport::~FlowTransport() {
    close();
}

void FlowTransport::close() noexcept {
    if (std::exchange(isClosed_, true))
        return;
    if (isLinked())
        unlink();
    listening_.clear();
    running_.end();
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
    if (loop_.service<FlowTransport>() == this)
        loop_.provide<FlowTransport>(nullptr);
}

FlowTransport& FlowTransport::transport() {
    if (FlowTransport* known = Loop::current().service<FlowTransport>()) [[likely]]
        return *known;
    return createInstance(true, 0, 0);
}

FlowTransport& FlowTransport::createInstance(bool, std::uint64_t, int, RpcOptions options) {
    auto* made = new FlowTransport(std::move(options));
    made->isHeap_ = true;
    return *made;
}

Future<Void> FlowTransport::bind(Address publicAddress, Address listenAddress) {
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

/// An allocation that fails ends or refuses one connection; accepting goes on.
Future<Void> FlowTransport::accept(Reference<Listener> listener) {
    for (;;) {
        try {
            begin(co_await listener->accept());
        } catch (std::bad_alloc&) {
        }
    }
}

void FlowTransport::begin(Reference<Connection> connection) {
    if (accepted_.size() >= options_.maxConnections) {
        ++counters_.refused;
        return connection->abort();
    }
    ++counters_.accepted;
    Address from = connection->peerAddress();
    if (from.isAny() || accepted_.contains(from)) // a Unix socket has no name of its own
        from = Address::unixAbstract("connection " + std::to_string(counters_.accepted));
    auto peer = makeReference<RpcPeer>(*this, RpcPeer::Side::Accepted, from, counters_.accepted);
    auto place = accepted_.emplace(from, peer).first;
    try {
        running_.add(serve(std::move(peer), std::move(connection)));
    } catch (...) {
        accepted_.erase(place);
        throw;
    }
}

Future<Void> FlowTransport::serve(Reference<RpcPeer> peer, Reference<Connection> connection) {
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

/// Called when peers hold more than peersBytes. Disconnects until they hold seven eighths of it, so that the next call,
/// which sorts all peers again, comes later.
void FlowTransport::disconnectLargest() {
    std::vector<Reference<RpcPeer>> peers;
    try {
        peers.reserve(accepted_.size());
    } catch (std::bad_alloc&) { // the next change asks for this again
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

Future<Reference<Connection>> FlowTransport::connectTo(Address const& address) {
    if (options_.connect)
        return options_.connect(address);
    ConnectOptions connect;
    connect.timeout = options_.connectTimeout;
    return net::transport().connect(address, connect);
}

/// Goes on after every error, also after an allocation that failed: otherwise requests to this address would wait
/// forever. Ends when nothing was sent there during the pause after a connection.
Future<Void> FlowTransport::keepConnected(Reference<RpcPeer> peer) {
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
        } catch (std::bad_alloc&) { // it counts as available
        }
        peer = replace(peer, error);
        if (!peer)
            co_return;
        wait = pause * (0.5 + deterministicRandom()->random01());
        pause = std::min(pause * 2, options_.reconnectMax);
    }
}

/// The next connection to the same address, to which waiters of the one that has ended send. Null if there is no
/// memory for it.
Reference<RpcPeer> FlowTransport::replace(Reference<RpcPeer> const& ended, Error error) {
    auto place = connecting_.find(ended->address());
    try {
        place->second = makeReference<RpcPeer>(*this, RpcPeer::Side::Connecting, ended->address());
    } catch (std::bad_alloc&) { // code that sends again makes a new one
        connecting_.erase(place);
        ended->lost(error);
        return {};
    }
    Reference<RpcPeer> next = place->second;
    ended->lost(error);
    return next;
}

bool FlowTransport::isLocal(Endpoint const& endpoint) const {
    if (endpoint.isByConnection)
        return false;
    Address const& address = endpoint.getPrimaryAddress();
    return address == Address() || (addresses_.address != Address() && addresses_.contains(address));
}

bool Endpoint::isLocal() const {
    return FlowTransport::transport().isLocal(*this);
}

Reference<RpcPeer> FlowTransport::peerOf(Endpoint const& endpoint) {
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
        running_.add(keepConnected(std::move(peer)));
    } catch (...) { // otherwise nothing would connect it
        connecting_.erase(address);
        throw;
    }
    place = connecting_.find(address); // if it has failed at once, there is another one, or none
    return place == connecting_.end() ? Reference<RpcPeer>() : place->second;
}

std::size_t FlowTransport::queuedBytes(Address const& address) const {
    auto place = connecting_.find(address);
    return place == connecting_.end() ? 0 : place->second->queuedBytes();
}

Future<Void> FlowTransport::drainedTo(Address const& address, std::size_t bytes) const {
    auto place = connecting_.find(address);
    return place == connecting_.end() ? Future<Void>(Void()) : RpcPeer::drained(place->second, bytes);
}

std::span<std::uint8_t> FlowTransport::scratch() {
    if (scratch_.empty())
        scratch_.resize(kScratch);
    return scratch_;
}

} // namespace flow::net
