// The connections of a MessageSocket.
//
// Each connection has its own Peer. accept() makes a Peer for each accepted connection. keepConnected() makes a Peer
// for each connection to its endpoint, and connects again after a pause. run() does the handshake and serves the
// connection. conclude() gives unsent messages to the next Peer and wakes the waiters. accept(), serve() and
// keepConnected() are tasks in running_: an error ends only its own task. During report(), a reader of the monitor may
// destroy the socket. Then the task ends at its next co_await. So co_await after report() before you use `this`.

#include "flow/combine/race.h"
#include "flow/wait/delay.h"
#include "net/connect.h"
#include "net/message/detail/message_state.h"

namespace flow::net {

using zmtp::Fault;
using Kind = MonitorEvent::Kind;

constexpr std::string_view kInproc = "inproc://";
constexpr std::size_t kGivenNameBytes = 5; // an id that a ROUTER makes: a zero byte and a number

namespace {

std::string_view inprocName(std::string_view endpoint) {
    std::string_view name = endpoint.substr(kInproc.size());
    if (name.empty())
        throw wrongEndpoint(endpoint, "a name is expected behind inproc://");
    return name;
}

Error withoutTls(char const* option) {
    return wrongOption("MessageOptions", option, "not set", "setTls() must set it for \"tls://\"");
}

} // namespace

void MessageSocket::State::report(Kind kind, std::string endpoint, Fault fault) {
    if (isMonitored_)
        monitor_.send(MonitorEvent{kind, fault, std::move(endpoint)});
}

std::string MessageSocket::State::bind(std::string_view endpoint) {
    if (endpoint.starts_with(kInproc)) {
        bindInproc(inprocName(endpoint));
        return std::string(endpoint);
    }
    ListenOptions listen;
    listen.backlog = options_.backlog;
    listen.sendBuffer = options_.sndBuf;
    listen.receiveBuffer = options_.rcvBuf;
    listen.readStrategy = options_.readStrategy;
    MessageEndpoint parsed = MessageEndpoint::parse(endpoint, EndpointUse::Bind);
    if (parsed.isEncrypted && !options_.encryptListener)
        throw withoutTls("encryptListener");
    Reference<Listener> listener = transport().listen(parsed.address, listen);
    MessageEndpoint bound = parsed.at(listener->localAddress());
    if (parsed.isEncrypted)
        listener = options_.encryptListener(listener, [this, bound](Address const& client) {
            running_.spawn(reportFailedTls(bound.at(client).text()));
        });
    listeners_.push_back(listener);
    running_.spawn(accept(listener, bound));
    report(Kind::Listening, bound.text());
    return bound.text();
}

void MessageSocket::State::connect(std::string_view endpoint) {
    if (endpoint.starts_with(kInproc)) {
        running_.spawn(connectInproc(std::string(inprocName(endpoint))));
        return;
    }
    MessageEndpoint to = MessageEndpoint::parse(endpoint, EndpointUse::Connect);
    if (to.isEncrypted && !options_.encryptConnection)
        throw withoutTls("encryptConnection");
    // As in libzmq: with a second connection, a SUB would receive each message twice, and a DEALER or REQ would give
    // the same peer two turns.
    bool isOnce = oneOf(type_, {SocketType::Sub, SocketType::Pub, SocketType::Dealer, SocketType::Req});
    if (isOnce && !connected_.insert(to.text()).second)
        return;
    running_.spawn(keepConnected(to));
}

Future<Void> MessageSocket::State::accept(Reference<Listener> listener, MessageEndpoint endpoint) {
    for (;;) {
        auto peer = makeReference<Peer>(this);
        peer->connection = co_await listener->accept();
        peer->isAccepted = true;
        peer->endpoint = endpoint.at(peer->connection->peerAddress());
        peers_.push_back(peer);
        report(Kind::Accepted, endpoint.text());
        co_await Future<Void>(Void()); // the task ends here if a reader of the monitor has destroyed the socket
        running_.spawn(serve(peer));
    }
}

/// Reports in a later turn: a reader of the monitor may destroy the socket, and with it the listener that calls this.
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
    conclude(*peer, nullptr);
    std::erase(peers_, peer);
}

Reference<Peer> MessageSocket::State::addPeer(Reference<Peer> peer) {
    peers_.push_back(peer);
    setLastPeer(nullptr);
    senders_.wakeInTurn(TaskPriority::WriteSocket);
    return peer;
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

/// Connects again after every error, without end.
Future<Void> MessageSocket::State::keepConnected(MessageEndpoint to) {
    Reference<Peer> peer = addPeer(makeReference<Peer>(this));
    double pause = options_.reconnectIvl;
    for (;;) {
        Error error;
        try {
            if (peer->phase == Peer::Phase::Unused)
                co_await connectOnce(peer, to);
        } catch (...) {
            error = currentError();
        }
        if (error.code() == error_code_actor_cancelled)
            throw error;
        if (peer->wasOpen)
            pause = options_.reconnectIvl;
        try {
            if (peer->phase != Peer::Phase::Unused)
                peer = replace(peer);
        } catch (std::bad_alloc&) { // the next round tries again
        }
        co_await delay(pause * (0.5 + chance().random01()));
        pause = std::min<double>(pause * 2, std::max(options_.reconnectIvl, options_.reconnectIvlMax));
        report(Kind::ConnectRetried, to.text());
        co_await Future<Void>(Void()); // the task ends here if a reader of the monitor has destroyed the socket
    }
}

Future<Void> MessageSocket::State::connectOnce(Reference<Peer> peer, MessageEndpoint to) {
    // A variable: gcc 12 evaluates both branches of a ?: in a co_await.
    auto connecting = to.name.empty() ? transport().connect(to.address, connectOptions())
                                      : net::connect(to.name, to.address.port(), connectOptions());
    peer->connection = co_await std::move(connecting);
    peer->phase = Peer::Phase::Shaking;
    peer->endpoint = to.at(peer->connection->peerAddress());
    report(Kind::Connected, peer->endpoint.text());
    co_await Future<Void>(Void()); // the task ends here if a reader of the monitor has destroyed the socket
    bool isUsable = co_await encrypt(peer, to);
    if (isUsable)
        co_await run(peer);
}

/// Serves a connection from its handshake on. Throws only actor_cancelled.
Future<Void> MessageSocket::State::run(Reference<Peer> peer) {
    peer->phase = Peer::Phase::Shaking;
    std::string endpoint = peer->endpoint.text();
    Error error;
    try {
        co_await shakeHandsInTime(peer);
        open(*peer);
        report(Kind::HandshakeSucceeded, endpoint);
        co_await Future<Void>(Void()); // the task ends here if a reader of the monitor has destroyed the socket
        (void)co_await race(Peer::Over{peer.getPtr()}, beat(peer));
    } catch (...) {
        error = currentError();
    }
    if (error.code() == error_code_actor_cancelled)
        throw error;
    if (peer->fault != Fault::None) {
        ++counters_.refused;
        counters_.lastFault = peer->fault;
        if (!peer->wasOpen && peer->fault != Fault::RefusedByPeer)
            sendError(*peer);
    }
    report(peer->wasOpen ? Kind::Disconnected : Kind::HandshakeFailed, endpoint, peer->fault);
    co_await Future<Void>(Void()); // the task ends here if a reader of the monitor has destroyed the socket
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

/// Opens the peer after its handshake, or refuses it.
void MessageSocket::State::open(Peer& peer) {
    if (type_ == SocketType::Router)
        nameRoute(peer);
    if (type_ == SocketType::Pair && openPeers() != 0)
        refuse(peer, Fault::PairInUse);
    peer.phase = Peer::Phase::Open;
    peer.wasOpen = true;
    peer.lastHeard = peer.lastPing = now();
    ++counters_.connected;
    setLastPeer(nullptr);
    if (subscribes(type_))
        for (auto const& [topic, count] : subscriptions_)
            sendTopic(peer, topic, true);
    flush(peer);
    if (peer.connection)
        inputCame(peer); // parses bytes after the handshake, and waits for more
    senders_.wakeInTurn(TaskPriority::WriteSocket);
}

/// Gives a ROUTER's peer its name: the routing id that the peer has sent, or a new id that no peer had before. A sent
/// id with the form of a new id is replaced too, so no peer can choose the id of another.
void MessageSocket::State::nameRoute(Peer& peer) {
    if (peer.id.empty() || (peer.id.size() == kGivenNameBytes && peer.id[0] == '\0')) {
        peer.id.assign(1, '\0');
        zmtp::appendBigEndian(peer.id, ++lastId_, kGivenNameBytes - 1);
    }
    Reference<PeerName>& name = byId_[peer.id];
    if (!name)
        name = makeReference<PeerName>();
    if (name->peer && name->peer->isOpen()) {
        if (!options_.routerHandover)
            refuse(peer, Fault::IdentityInUse);
        name->peer->end(Fault::IdentityInUse);
    }
    name->peer = &peer;
    peer.name = name;
    peer.route = makeReference<Route>(peer.id);
    peer.route->peer = &peer;
    name->senders.wakeInTurn(TaskPriority::WriteSocket);
}

/// Cleans up after a connection. Received messages stay for receive(). Unsent messages go to `next`, unless it is null
/// or this type of socket drops them.
void MessageSocket::State::conclude(Peer& peer, Peer* next) {
    peer.phase = Peer::Phase::Over;
    if (peer.wasOpen) {
        ++counters_.disconnected;
        peer.input.rest(); // frees memory: the messages may wait for long
        while (peer.available() != 0) {
            if (isWanted(peer))
                arrive(takeFrom(peer), peer);
            else
                discardFirst(peer);
        }
        if (type_ == SocketType::XPub && !peer.topics.isEmpty())
            arrive(Message(), peer);
    }
    unlist(peer);
    setLastPeer(nullptr);
    removeName(peer);
    peer.reading.cancel();
    peer.writing.cancel();
    if (peer.connection) {
        counters_.calls += peer.connection->counters();
        peer.connection->close();
    }
    peer.connection = {};
    peer.cipher = nullptr;
    peer.opened = Message();
    peer.expiry = peer.assuring = {};
    if (next && oneOf(type_, {SocketType::Push, SocketType::Dealer, SocketType::Req, SocketType::Pair})) {
        if (!isQueued_)
            next->output.takeOver(peer.output);
        std::swap(next->queue, peer.queue);
        std::swap(next->queueBytes, peer.queueBytes);
    }
    counters_.dropped += peer.waiting();
    peer.output.clear();
    peer.queue.clear();
    if (type_ == SocketType::Req && partner_.getPtr() == &peer && arrived_.empty()) {
        bool isUnsent = next && next->waiting() != 0;
        partner_ = isUnsent ? Reference<Peer>::addRef(next) : Reference<Peer>();
        if (!isUnsent) {
            awaitsReply_ = false;
            ++counters_.lostReplies;
            receivers_.wakeInTurn(TaskPriority::ReadSocket);
        }
    }
    senders_.wakeInTurn(TaskPriority::WriteSocket);
}

/// Concludes `ended`, and replaces it in peers_ by a new Peer for the next connection.
Reference<Peer> MessageSocket::State::replace(Reference<Peer> const& ended) {
    auto next = makeReference<Peer>(this);
    next->isInproc = ended->isInproc;
    conclude(*ended, next.getPtr());
    *std::find(peers_.begin(), peers_.end(), ended) = next;
    return next;
}

/// Frees the peer's name and wakes its waiting senders, unless another peer has the name now.
void MessageSocket::State::removeName(Peer& peer) {
    auto isUnused = [this](std::string const& id) {
        auto found = byId_.find(id);
        if (found == byId_.end() || found->second->peer)
            return true;
        if (found->second->senders.isWaitedFor())
            return false;
        byId_.erase(found);
        return true;
    };
    std::erase_if(departed_, isUnused);
    if (!peer.name || peer.name->peer != &peer)
        return;
    peer.name->peer = nullptr;
    peer.name->senders.wakeInTurn(TaskPriority::WriteSocket);
    if (!isUnused(peer.id))
        departed_.push_back(peer.id);
}

// -------------------------------------------------------------------------------------------------------------------
// inproc

namespace {

struct OwnedNames : LoopOwned {
    std::shared_ptr<InprocNames> names = std::make_shared<InprocNames>();
};

std::shared_ptr<InprocNames> inprocNames() {
    if (auto* owned = Loop::current().service<OwnedNames>())
        return owned->names;
    auto* owned = new OwnedNames;
    owned->end = [](LoopOwned* ended) { delete static_cast<OwnedNames*>(ended); };
    Loop::current().provide<OwnedNames>(owned);
    Loop::current().add(*owned);
    return owned->names;
}

} // namespace

void MessageSocket::State::bindInproc(std::string_view name) {
    names_ = inprocNames();
    if (!names_->bound.emplace(name, this).second)
        throw address_in_use().withSentence("bind to \"inproc://" + std::string(name) +
                                            "\": a socket of this loop is bound to it");
    inproc_.emplace_back(name);
}

Future<Void> MessageSocket::State::connectInproc(std::string name) {
    Reference<Peer> peer = makeReference<Peer>(this);
    peer->isInproc = true;
    addPeer(peer);
    for (;;) {
        std::shared_ptr<InprocNames> names = inprocNames();
        auto found = names->bound.find(name);
        bool isFree = type_ != SocketType::Pair || openPeers() == 0;
        if (isFree && found != names->bound.end() && mayTalk(type_, nameOf(found->second->type_))) {
            join(*peer, *found->second);
            co_await Peer::Over{peer.getPtr()};
            peer->twin = {};
            peer = replace(peer);
        }
        co_await delay(options_.reconnectIvl);
    }
}

/// Makes the peer of the other socket, and opens both peers.
void MessageSocket::State::join(Peer& ours, State& other) {
    auto theirs = makeReference<Peer>(&other);
    theirs->isAccepted = theirs->isInproc = true;
    theirs->id = options_.routingId;
    ours.id = other.options_.routingId;
    theirs->twin = Reference<Peer>::addRef(&ours);
    ours.twin = theirs;
    other.peers_.push_back(theirs);
    other.running_.spawn(other.serveTwin(theirs));
    if (theirs->isOver())
        return ours.end(theirs->fault);
    openTwin(ours);
    for (; !ours.isOver() && !ours.queue.empty(); ours.queue.pop_front()) { // sent before join()
        ours.queueBytes -= ours.queue.front().wire().size();
        sendTo(ours, {}, 0, ours.queue.front());
    }
}

/// Opens one end of an inproc:// connection, or ends the connection if this socket refuses the peer.
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
    conclude(*peer, nullptr);
    std::erase(peers_, peer);
}

} // namespace flow::net
