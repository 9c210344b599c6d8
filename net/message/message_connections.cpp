// The connections of a MessageSocket: connecting, handshake, disconnecting, reconnecting.

#include "flow/coro/race.h"
#include "flow/wait/delay.h"
#include "net/connect.h"
#include "net/message/message_state.h"

namespace flow::net {

using zmtp::Fault;
using Kind = MonitorEvent::Kind;

constexpr std::string_view kInproc = "inproc://";

void MessageSocket::State::report(Kind kind, std::string endpoint, Fault fault) {
    if (isMonitored_)
        monitor_.send(MonitorEvent{kind, fault, std::move(endpoint)});
}

std::string MessageSocket::State::bind(std::string_view endpoint) {
    if (endpoint.starts_with(kInproc)) {
        bindInproc(endpoint.substr(kInproc.size()));
        return std::string(endpoint);
    }
    ListenOptions listen;
    listen.backlog = options_.backlog;
    listen.sendBuffer = options_.sndBuf;
    listen.receiveBuffer = options_.rcvBuf;
    listen.readStrategy = options_.readStrategy;
    MessageEndpoint parsed = MessageEndpoint::parse(endpoint, EndpointUse::Bind);
    if (parsed.isEncrypted && !options_.encryptListener)
        throw client_invalid_operation();
    Reference<Listener> listener = transport().listen(parsed.address, listen);
    MessageEndpoint bound = parsed.at(listener->localAddress());
    if (parsed.isEncrypted)
        listener = options_.encryptListener(
            listener, [this, bound](Address const& client) { running_.add(reportFailedTls(bound.at(client).text())); });
    listeners_.push_back(listener);
    running_.add(accept(listener, bound));
    report(Kind::Listening, bound.text());
    return bound.text();
}

void MessageSocket::State::connect(std::string_view endpoint) {
    if (endpoint.starts_with(kInproc)) {
        running_.add(connectInproc(std::string(endpoint.substr(kInproc.size()))));
        return;
    }
    MessageEndpoint to = MessageEndpoint::parse(endpoint, EndpointUse::Connect);
    if (to.isEncrypted && !options_.encryptConnection)
        throw client_invalid_operation();
    running_.add(keepConnected(to));
}

Future<Void> MessageSocket::State::accept(Reference<Listener> listener, MessageEndpoint endpoint) {
    for (;;) {
        auto peer = makeReference<Peer>(this);
        peer->connection = co_await listener->accept();
        peer->isAccepted = true;
        peer->endpoint = endpoint.at(peer->connection->peerAddress());
        peers_.push_back(peer);
        report(Kind::Accepted, endpoint.text());
        co_await Future<Void>(Void()); // ends here if a reader of the monitor has destroyed the socket
        running_.add(serve(peer));
    }
}

/// In a turn of its own, since a reader of the monitor may destroy the socket, and the listener must not go then.
Future<Void> MessageSocket::State::reportFailedTls(std::string client) {
    co_await delay(0);
    tlsFailed(std::move(client));
}

void MessageSocket::State::tlsFailed(std::string with) {
    ++counters_.refused;
    counters_.lastFault = Fault::TlsFailed;
    report(Kind::HandshakeFailed, std::move(with), Fault::TlsFailed);
}

Future<Void> MessageSocket::State::serve(Reference<Peer> peer) {
    co_await run(peer);
    std::erase(peers_, peer);
    if (peer->senders.isWaitedFor())
        departed_.push_back(peer);
}

ConnectOptions MessageSocket::State::connectOptions() const {
    ConnectOptions connect;
    connect.sendBuffer = options_.sndBuf;
    connect.receiveBuffer = options_.rcvBuf;
    connect.readStrategy = options_.readStrategy;
    return connect;
}

Future<bool> MessageSocket::State::encrypt(Reference<Peer> peer, MessageEndpoint to) {
    if (to.isEncrypted) {
        auto secured = co_await tryGet(options_.encryptConnection(std::move(peer->connection), to.host()));
        if (secured.isError(error_code_actor_cancelled))
            throw secured.getError();
        if (secured.isError()) {
            tlsFailed(peer->endpoint.text());
            co_return false;
        }
        peer->connection = secured.get();
    }
    co_return true;
}

Future<Void> MessageSocket::State::keepConnected(MessageEndpoint to) {
    auto peer = makeReference<Peer>(this);
    peers_.push_back(peer);
    setLastPeer(nullptr);
    senders_.wakeInTurn(TaskPriority::WriteSocket);
    double pause = options_.reconnectIvl;
    for (;;) {
        // Not in the co_await: gcc 12 would evaluate both.
        auto connecting = to.name.empty() ? transport().connect(to.address, connectOptions())
                                          : net::connect(to.name, to.address.port(), connectOptions());
        ErrorOr<Reference<Connection>> connected = co_await tryGet(std::move(connecting));
        if (connected.isError(error_code_actor_cancelled))
            throw connected.getError();
        if (!connected.isError()) {
            std::uint64_t before = counters_.connected;
            peer->connection = connected.get();
            peer->endpoint = to.at(peer->connection->peerAddress());
            report(Kind::Connected, peer->endpoint.text());
            co_await Future<Void>(Void()); // ends here if a reader of the monitor has destroyed the socket
            bool isUsable = co_await encrypt(peer, to);
            if (isUsable)
                co_await run(peer);
            if (counters_.connected != before)
                pause = options_.reconnectIvl;
        }
        co_await delay(pause * (0.5 + chance().random01()));
        pause = std::min(pause * 2, std::max(options_.reconnectIvl, options_.reconnectIvlMax));
        report(Kind::ConnectRetried, to.text());
        co_await Future<Void>(Void()); // ends here if a reader of the monitor has destroyed the socket
    }
}

/// From the handshake to the end of the connection; throws nothing but a cancel.
Future<Void> MessageSocket::State::run(Reference<Peer> peer) {
    peer->fault = Fault::None;
    peer->isOver = false;
    peer->input = Input();
    std::string endpoint = peer->endpoint.text();
    Error error;
    try {
        co_await shakeHandsInTime(peer);
        open(*peer);
        report(Kind::HandshakeSucceeded, endpoint);
        co_await Future<Void>(Void()); // ends here if a reader of the monitor has destroyed the socket
        (void)co_await race(Peer::Over{peer.getPtr()}, beat(peer));
    } catch (Error& caught) {
        error = caught;
    }
    if (error.code() == error_code_actor_cancelled)
        throw error;
    if (peer->fault != Fault::None) {
        ++counters_.refused;
        counters_.lastFault = peer->fault;
        if (!peer->isShaken && peer->fault != Fault::RefusedByPeer)
            sendError(*peer);
    }
    report(peer->isShaken ? Kind::Disconnected : Kind::HandshakeFailed, endpoint, peer->fault);
    co_await Future<Void>(Void()); // ends here if a reader of the monitor has destroyed the socket
    forget(*peer);
}

void MessageSocket::State::sendError(Peer& peer) {
    std::string reason(zmtp::nameOf(peer.fault)), out;
    reason.insert(reason.begin(), static_cast<char>(reason.size()));
    zmtp::appendCommand(out, "ERROR", reason);
    (void)peer.connection->write(StringRef(out));
}

Future<Void> MessageSocket::State::shakeHandsInTime(Reference<Peer> peer) {
    Future<Void> late = options_.handshakeIvl > 0 ? delay(options_.handshakeIvl) : Future<Void>(Never());
    auto first = co_await race(shakeHands(*peer, type_, options_), late);
    if (first.index() == 1)
        refuse(*peer, Fault::HandshakeTimedOut);
}

/// The peer is ready for use.
void MessageSocket::State::open(Peer& peer) {
    if (type_ == SocketType::Router) {
        while (peer.id.empty()) {
            std::uint32_t number = ++lastId_;
            std::string id(1, '\0'); // such ids are ours, but peers may have them too
            zmtp::appendBigEndian(id, number, 4);
            if (!byId_.contains(id))
                peer.id = id;
        }
        Peer*& known = byId_[peer.id];
        if (known && known != &peer) {
            if (!options_.routerHandover)
                refuse(peer, Fault::IdentityInUse);
            known->route->peer = nullptr;
            known->end(Fault::IdentityInUse);
        }
        known = &peer;
        peer.route = makeReference<Route>(peer.id);
        peer.route->peer = &peer;
    }
    if (type_ == SocketType::Pair && openPeers() != 0)
        refuse(peer, Fault::PairInUse);
    peer.isShaken = true;
    peer.isBlocked = false;
    peer.lastHeard = now();
    ++counters_.connected;
    setLastPeer(nullptr);
    if (subscribes(type_))
        for (auto const& [topic, count] : subscriptions_)
            sendTopic(peer, topic, true);
    flush(peer);
    if (peer.connection)
        inputCame(peer); // parse the bytes after the handshake, and wait for more
    senders_.wakeInTurn(TaskPriority::WriteSocket);
}

/// The connection has ended. Received messages stay for receive().
void MessageSocket::State::forget(Peer& peer) {
    if (peer.isShaken) {
        ++counters_.disconnected;
        while (peer.available() != 0) {
            if (isWanted(peer))
                arrive(takeFrom(peer), peer);
            else
                discardFirst(peer);
        }
    }
    unlist(peer);
    setLastPeer(nullptr);
    auto known = byId_.find(peer.id);
    if (known != byId_.end() && known->second == &peer)
        byId_.erase(known);
    if (peer.route)
        peer.route->peer = nullptr;
    peer.reading.cancel();
    peer.writing.cancel();
    if (peer.connection) {
        SocketCounters calls = peer.connection->counters();
        counters_.calls.reads += calls.reads;
        counters_.calls.emptyReads += calls.emptyReads;
        counters_.calls.writes += calls.writes;
        counters_.calls.blockedWrites += calls.blockedWrites;
        counters_.calls.bytesRead += calls.bytesRead;
        counters_.calls.bytesWritten += calls.bytesWritten;
        peer.connection->close();
    }
    peer.connection = {};
    peer.cipher = nullptr;
    peer.opened = Message();
    peer.isShaken = peer.isBlocked = false;
    peer.topics = TopicSet();
    peer.expiry = {};
    peer.ttl = 0;
    bool isKept =
        !peer.isAccepted && oneOf(type_, {SocketType::Push, SocketType::Dealer, SocketType::Req, SocketType::Pair});
    if (!isKept || isQueued_) {
        counters_.dropped += peer.output.messages();
        peer.output.clear();
    } else {
        peer.output.restart();
    }
    if (!isKept) {
        counters_.dropped += peer.queue.size();
        peer.queue.clear();
        peer.queueBytes = 0;
    }
    if (type_ == SocketType::Req && partner_.getPtr() == &peer && arrived_.empty() && peer.output.isEmpty() &&
        peer.queue.empty()) {
        awaitsReply_ = false; // another request may be sent
        ++counters_.lostReplies;
        partner_ = {};
        receivers_.wakeInTurn(TaskPriority::ReadSocket);
    }
    peer.senders.wakeInTurn(TaskPriority::WriteSocket);
    senders_.wakeInTurn(TaskPriority::WriteSocket);
    std::erase_if(departed_, [](Reference<Peer> const& each) { return !each->senders.isWaitedFor(); });
}

Future<Void> MessageSocket::State::beat(Reference<Peer> peer) {
    if (options_.heartbeatIvl <= 0)
        co_await Future<Void>(Never());
    double patience = options_.heartbeatTimeout > 0 ? options_.heartbeatTimeout : options_.heartbeatIvl;
    double life = options_.heartbeatTtl > 0 ? options_.heartbeatTtl : patience;
    for (;;) {
        double asked = now();
        std::string ttl;
        zmtp::appendBigEndian(ttl, static_cast<std::uint64_t>(std::min(life * 10, 65535.0)), 2);
        command(*peer, "PING", ttl);
        co_await delay(std::max(options_.heartbeatIvl, patience));
        if (isSilentSince(*peer, asked))
            refuse(*peer, Fault::HeartbeatTimedOut);
    }
}

/// While nothing is received, this side does not read, and so no peer is silent.
bool MessageSocket::State::isSilentSince(Peer& peer, double time) {
    if (peer.link.isLinked() && !receivers_.isWaitedFor())
        readAhead(peer);
    return peer.lastHeard < time && !peer.isPaused;
}

/// Ends the connection of a peer that has sent nothing for as long as its last PING said.
Future<Void> MessageSocket::State::expire(Peer& peer) {
    for (double wait = peer.ttl; peer.ttl > 0;) {
        co_await delay(wait);
        if (isSilentSince(peer, now() - peer.ttl) && peer.ttl > 0)
            peer.end(Fault::HeartbeatTimedOut);
        double left = peer.lastHeard + peer.ttl - now();
        wait = left > 0 ? left : peer.ttl;
    }
}

// -------------------------------------------------------------------------------------------------------------------
// inproc

namespace {

/// Ends with the loop.
struct OwnedNames : LoopOwned {
    std::shared_ptr<InprocNames> names = std::make_shared<InprocNames>();
};

std::shared_ptr<InprocNames> inprocNames() {
    if (auto* owned = loop().service<OwnedNames>())
        return owned->names;
    auto* owned = new OwnedNames;
    owned->end = [](LoopOwned* ended) { delete static_cast<OwnedNames*>(ended); };
    loop().provide<OwnedNames>(owned);
    loop().add(*owned);
    return owned->names;
}

} // namespace

void MessageSocket::State::bindInproc(std::string_view name) {
    if (name.empty())
        throw connection_string_invalid();
    names_ = inprocNames();
    if (!names_->bound.emplace(name, this).second)
        throw address_in_use();
    inproc_.emplace_back(name);
}

Future<Void> MessageSocket::State::connectInproc(std::string name) {
    if (name.empty())
        throw connection_string_invalid();
    auto peer = makeReference<Peer>(this);
    peer->isInproc = true;
    peers_.push_back(peer);
    setLastPeer(nullptr);
    senders_.wakeInTurn(TaskPriority::WriteSocket);
    for (;;) {
        std::shared_ptr<InprocNames> names = inprocNames();
        auto found = names->bound.find(name);
        bool isFree = type_ != SocketType::Pair || openPeers() == 0;
        if (isFree && found != names->bound.end() && mayTalk(type_, nameOf(found->second->type_))) {
            peer->isOver = false;
            join(*peer, *found->second);
            co_await Peer::Over{peer.getPtr()};
            peer->twin = {};
            forget(*peer);
        }
        co_await delay(options_.reconnectIvl);
    }
}

/// Makes the other end, and opens both.
void MessageSocket::State::join(Peer& ours, State& other) {
    auto theirs = makeReference<Peer>(&other);
    theirs->isAccepted = theirs->isInproc = true;
    theirs->id = options_.routingId;
    ours.id = other.options_.routingId;
    theirs->twin = Reference<Peer>::addRef(&ours);
    ours.twin = theirs;
    other.peers_.push_back(theirs);
    other.running_.add(other.serveTwin(theirs));
    if (theirs->isOver)
        return ours.end(theirs->fault);
    openTwin(ours);
    for (; !ours.isOver && !ours.queue.empty(); ours.queue.pop_front()) { // what was sent before
        ours.queueBytes -= ours.queue.front().wire().size();
        sendTo(ours, {}, 0, ours.queue.front());
    }
}

/// Opens an end of inproc://, which ends if this socket refuses it.
void MessageSocket::State::openTwin(Peer& peer) {
    try {
        open(peer);
    } catch (Error&) {
        ++counters_.refused;
        counters_.lastFault = peer.fault;
        peer.end(peer.fault);
    }
}

Future<Void> MessageSocket::State::serveTwin(Reference<Peer> peer) {
    openTwin(*peer);
    co_await Peer::Over{peer.getPtr()};
    if (peer->twin)
        peer->twin->end(Fault::None);
    peer->twin = {};
    forget(*peer);
    std::erase(peers_, peer);
}

} // namespace flow::net
