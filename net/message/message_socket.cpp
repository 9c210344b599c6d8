#include "net/message/message_socket.h"

#include "flow/base/random.h"
#include "flow/coro/race.h"
#include "flow/lib/collection.h"
#include "flow/wait/delay.h"
#include "net/message/endpoint.h"
#include "net/message/handshake.h"
#include "net/transport.h"

#include <algorithm>
#include <unordered_map>

namespace flow::net {

using zmtp::Fault;

namespace {

bool oneOf(SocketType type, std::initializer_list<SocketType> types) {
    return std::find(types.begin(), types.end(), type) != types.end();
}
bool canReceive(SocketType type) {
    return !oneOf(type, {SocketType::Pub, SocketType::Push});
}
bool canSend(SocketType type) {
    return !oneOf(type, {SocketType::Sub, SocketType::Pull});
}
bool publishes(SocketType type) {
    return oneOf(type, {SocketType::Pub, SocketType::XPub});
}
bool subscribes(SocketType type) {
    return oneOf(type, {SocketType::Sub, SocketType::XSub});
}

std::string_view view(StringRef bytes) {
    return {reinterpret_cast<char const*>(bytes.begin()), static_cast<std::size_t>(bytes.size())};
}
Bytes bytesOf(std::string_view text) {
    return StringRef(text);
}

} // namespace

Message messageOf(std::string_view text) {
    Message message;
    message.push_back(bytesOf(text));
    return message;
}

class MessageSocket::State {
public:
    State(SocketType type, MessageOptions options) : type_(type), options_(std::move(options)) {
        if (options_.conflate)
            options_.receiveHighWater = 0;
    }

    std::string bind(std::string_view endpoint);
    void connect(std::string_view endpoint);
    void subscribe(std::string_view topic, bool isNew);
    bool trySend(Message& message);
    Future<Void> send(Message message);
    Future<Void> close(double linger);

    bool isReadable() const { return !incoming_.empty() || !mayReceive(); }
    void parkReceiver(WaiterNode& waiter, Receive& operation) { receivers_.park(waiter, operation); }
    Message take();

    MessageCounters counters;
    std::size_t openPeers() const {
        return static_cast<std::size_t>(
            std::count_if(peers_.begin(), peers_.end(), [](Reference<Peer> const& peer) { return peer->isOpen(); }));
    }

private:
    struct Incoming {
        Message message;
        Reference<Peer> from;
    };
    /// When trySend() may find room.
    struct Room {
        using Result = Void;
        State* state;
        Message const* message;
        bool isReady() const { return state->couldSend(*message); }
        void park(WaiterNode& waiter) { state->senders_.park(waiter, *this); }
        Void take() const { return Void(); }
    };
    /// When fewer messages wait for receive() than the mark.
    struct RoomToReceive {
        using Result = Void;
        State* state;
        bool isReady() const { return !state->isFull(); }
        void park(WaiterNode& waiter) { state->pausedReaders_.park(waiter, *this); }
        Void take() const { return Void(); }
    };

    // Connections.
    Future<Void> accept(Reference<Listener> listener);
    Future<Void> serve(Reference<Peer> peer);
    Future<Void> keepConnected(Address to);
    Future<Void> run(Reference<Peer> peer);
    Future<Void> shakeHandsInTime(Reference<Peer> peer, Input& input);
    Future<Void> read(Reference<Peer> peer, Input& input);
    Future<Void> write(Reference<Peer> peer);
    Future<Void> beat(Reference<Peer> peer);
    void open(Peer& peer);
    void forget(Peer& peer);
    void handleCommand(Peer& peer, zmtp::Frame const& frame);
    void deliver(Reference<Peer> const& peer, Message message);
    void subscriptionCame(Reference<Peer> const& peer, std::string_view topic, bool isNew);
    static void tellTopic(Peer& peer, std::string_view topic, bool isNew);

    // Sending.
    bool mayReceive() const { return canReceive(type_) && (type_ != SocketType::Req || awaitsReply_); }
    bool isFull() const { return options_.receiveHighWater != 0 && incoming_.size() >= options_.receiveHighWater; }
    bool hasRoom(Peer const& peer) const {
        if (!peer.isOpen() && (options_.immediate || peer.isAccepted))
            return false;
        return options_.conflate || options_.sendHighWater == 0 || peer.out.size() < options_.sendHighWater;
    }
    /// The next peer with room, in turn; null: none has.
    Peer* nextPeer(bool advance);
    Peer* peerNamed(StringRef id);
    bool couldSend(Message const& message);
    void sendTo(Peer& peer, Message message);
    void publish(Message const& message);
    void checkMaySend(Message const& message) const;
    bool hasUnsent() const {
        return std::any_of(peers_.begin(), peers_.end(), [](Reference<Peer> const& peer) {
            return !peer->out.empty() || peer->isWriting || (peer->connection && peer->connection->queuedBytes() != 0);
        });
    }

    SocketType type_;
    MessageOptions options_;
    std::vector<Reference<Peer>> peers_;
    std::unordered_map<std::string, Peer*> byId_; // ROUTER
    std::size_t turn_ = 0;
    std::uint32_t lastId_ = 0;
    std::deque<Incoming> incoming_;
    std::map<std::string, int> subscriptions_; // of this socket
    TopicSet topics_;                          // the same
    // REQ and REP
    bool awaitsReply_ = false;
    Reference<Peer> partner_; // from which the reply comes, or to which it goes
    Message envelope_;
    Source<Receive> receivers_;
    Source<Room> senders_;
    Source<RoomToReceive> pausedReaders_;
    std::vector<Reference<Listener>> listeners_;
    ActorCollectionNoErrors running_; // last: what it runs uses all of this
};

// -------------------------------------------------------------------------------------------------------------------
// Connections

std::string MessageSocket::State::bind(std::string_view endpoint) {
    Reference<Listener> listener = transport().listen(parseEndpoint(endpoint, EndpointUse::Bind));
    listeners_.push_back(listener);
    running_.add(accept(listener));
    return endpointText(listener->localAddress());
}

void MessageSocket::State::connect(std::string_view endpoint) {
    running_.add(keepConnected(parseEndpoint(endpoint, EndpointUse::Connect)));
}

Future<Void> MessageSocket::State::accept(Reference<Listener> listener) {
    for (;;) {
        auto peer = makeReference<Peer>();
        peer->connection = co_await listener->accept();
        peer->isAccepted = true;
        peers_.push_back(peer);
        running_.add(serve(peer));
    }
}

Future<Void> MessageSocket::State::serve(Reference<Peer> peer) {
    co_await run(peer);
    std::erase(peers_, peer);
}

Future<Void> MessageSocket::State::keepConnected(Address to) {
    auto peer = makeReference<Peer>();
    peers_.push_back(peer);
    double pause = options_.reconnectInterval;
    for (;;) {
        ErrorOr<Reference<Connection>> connected = co_await tryGet(transport().connect(to));
        if (connected.isError(error_code_actor_cancelled))
            throw connected.getError();
        if (!connected.isError()) {
            std::uint64_t before = counters.connected;
            peer->connection = connected.get();
            co_await run(peer);
            if (counters.connected != before)
                pause = options_.reconnectInterval;
        }
        co_await delay(pause * (0.5 + deterministicRandom()->random01()));
        pause = std::min(pause * 2, options_.reconnectIntervalMax);
    }
}

/// From the handshake to the end of the connection; throws nothing but a cancel.
Future<Void> MessageSocket::State::run(Reference<Peer> peer) {
    Input input(peer->connection);
    peer->fault = Fault::None;
    Error error;
    try {
        co_await shakeHandsInTime(peer, input);
        open(*peer);
        (void)co_await race(read(peer, input), write(peer), beat(peer));
    } catch (Error& caught) {
        error = caught;
    }
    if (peer->fault != Fault::None) {
        ++counters.refused;
        counters.lastFault = peer->fault;
        if (!peer->isShaken && peer->fault != Fault::RefusedByPeer) {
            std::string reason(zmtp::nameOf(peer->fault)), out;
            reason.insert(reason.begin(), static_cast<char>(reason.size()));
            zmtp::appendCommand(out, "ERROR", reason);
            (void)peer->connection->write(bytesOf(out));
        }
    }
    forget(*peer);
    if (error.code() == error_code_actor_cancelled)
        throw error;
}

Future<Void> MessageSocket::State::shakeHandsInTime(Reference<Peer> peer, Input& input) {
    auto first = co_await race(shakeHands(*peer, input, type_, options_), delay(options_.handshakeTimeout));
    if (first.index() == 1)
        refuse(*peer, Fault::HandshakeTimedOut);
}

/// The peer may be used from here on.
void MessageSocket::State::open(Peer& peer) {
    if (type_ == SocketType::Router) {
        if (peer.id.empty()) {
            std::uint32_t number = ++lastId_;
            peer.id.assign(1, '\0'); // such ids are ours
            zmtp::appendBigEndian(peer.id, number, 4);
        }
        Peer*& known = byId_[peer.id];
        if (known && known != &peer) {
            if (!options_.routerHandover)
                refuse(peer, Fault::IdentityInUse);
            known->connection->abort();
        }
        known = &peer;
    }
    peer.isShaken = true;
    peer.lastHeard = now();
    ++counters.connected;
    if (subscribes(type_))
        for (auto const& [topic, count] : subscriptions_)
            tellTopic(peer, topic, true);
    senders_.wakeInTurn();
}

void MessageSocket::State::forget(Peer& peer) {
    if (peer.isShaken)
        ++counters.disconnected;
    auto known = byId_.find(peer.id);
    if (known != byId_.end() && known->second == &peer)
        byId_.erase(known);
    peer.connection->close();
    peer.connection = {};
    peer.isShaken = peer.isWriting = false;
    peer.commands.clear();
    peer.topics = TopicSet();
    if (peer.isAccepted || type_ == SocketType::Router || publishes(type_)) {
        counters.dropped += peer.out.size();
        peer.out.clear();
    }
    if (type_ == SocketType::Req && partner_.getPtr() == &peer) {
        awaitsReply_ = false; // the reply will not come: another request may be sent
        partner_ = {};
        receivers_.wakeInTurn(TaskPriority::ReadSocket);
    }
    senders_.wakeInTurn();
}

Future<Void> MessageSocket::State::read(Reference<Peer> peer, Input& input) {
    Message message;
    std::size_t bytes = 0;
    for (;;) {
        if (isFull())
            co_await RoomToReceive{this};
        zmtp::Frame frame;
        zmtp::Parsed parsed =
            zmtp::parseFrame(input.view(), options_.limits, options_.limits.messageBytes - bytes, frame);
        if (parsed.fault != Fault::None)
            refuse(*peer, parsed.fault);
        if (parsed.used == 0) {
            co_await input.fill(parsed.need);
            peer->lastHeard = now();
            continue;
        }
        if (frame.command) {
            handleCommand(*peer, frame);
            input.consume(parsed.used);
            continue;
        }
        if (message.size() == options_.limits.parts)
            refuse(*peer, Fault::TooManyParts);
        message.push_back(input.own(frame.body));
        bytes += frame.body.size();
        input.consume(parsed.used);
        if (!frame.more) {
            deliver(peer, std::exchange(message, {}));
            bytes = 0;
        }
    }
}

void MessageSocket::State::handleCommand(Peer& peer, zmtp::Frame const& frame) {
    zmtp::Command command;
    if (!zmtp::parseCommand(frame.body, command))
        refuse(peer, Fault::BadCommand);
    if (command.name == "PING") {
        if (command.data.size() < 2 || command.data.size() > 18)
            refuse(peer, Fault::BadCommand);
        peer.command("PONG", command.data.substr(2));
    } else if (command.name == "SUBSCRIBE" || command.name == "CANCEL") {
        subscriptionCame(Reference<Peer>::addRef(&peer), command.data, command.name == "SUBSCRIBE");
    } else if (command.name == "ERROR") {
        refuse(peer, Fault::RefusedByPeer);
    } else if (command.name != "PONG") {
        refuse(peer, Fault::UnexpectedCommand);
    }
}

Future<Void> MessageSocket::State::write(Reference<Peer> peer) {
    constexpr std::size_t kBatch = 64 << 10, kLarge = 16 << 10;
    for (;;) {
        co_await Peer::HasOutput{peer.getPtr()};
        std::vector<Bytes> pieces;
        std::string small = std::exchange(peer->commands, {});
        std::size_t bytes = small.size();
        auto flush = [&] {
            if (!small.empty())
                pieces.push_back(bytesOf(small));
            small.clear();
        };
        while (!peer->out.empty() && bytes < kBatch) {
            Message message = std::move(peer->out.front());
            peer->out.pop_front();
            for (std::size_t i = 0; i < message.size(); ++i) {
                std::string_view part = view(message[i]);
                zmtp::appendFrameHeader(small, part.size(), {.more = i + 1 != message.size()});
                bytes += zmtp::frameBytes(part.size());
                if (part.size() < kLarge) {
                    small.append(part);
                } else {
                    flush();
                    pieces.push_back(message[i]);
                }
            }
            ++counters.sent;
        }
        flush();
        peer->isWriting = true;
        Drain written = peer->connection->write(pieces);
        senders_.wakeInTurn();
        co_await written;
        peer->isWriting = false;
    }
}

Future<Void> MessageSocket::State::beat(Reference<Peer> peer) {
    if (options_.heartbeatInterval <= 0)
        co_await Future<Void>(Never());
    double patience = options_.heartbeatTimeout > 0 ? options_.heartbeatTimeout : options_.heartbeatInterval;
    for (;;) {
        double asked = now();
        std::string ttl;
        zmtp::appendBigEndian(ttl, static_cast<std::uint64_t>(std::min(patience * 10, 65535.0)), 2);
        peer->command("PING", ttl);
        co_await delay(std::max(options_.heartbeatInterval, patience));
        if (peer->lastHeard < asked && !isFull()) // while nobody receives, this side does not listen
            refuse(*peer, Fault::HeartbeatTimedOut);
    }
}

// -------------------------------------------------------------------------------------------------------------------
// Receiving

void MessageSocket::State::subscriptionCame(Reference<Peer> const& peer, std::string_view topic, bool isNew) {
    if (!publishes(type_))
        refuse(*peer, Fault::UnexpectedCommand);
    if (topic.size() > options_.limits.topicBytes)
        refuse(*peer, Fault::TopicTooLong);
    bool changes = isNew ? peer->topics.add(topic) : peer->topics.remove(topic);
    if (type_ == SocketType::XPub && changes) {
        incoming_.push_back({messageOf(std::string(1, isNew ? '\1' : '\0').append(topic)), peer});
        receivers_.wakeInTurn(TaskPriority::ReadSocket);
    }
}

void MessageSocket::State::deliver(Reference<Peer> const& peer, Message message) {
    std::string_view first = view(message[0]);
    if (publishes(type_)) { // as peers of ZMTP 3.0 subscribe
        if (message.size() == 1 && !first.empty() && static_cast<unsigned char>(first[0]) <= 1)
            subscriptionCame(peer, first.substr(1), first[0] == 1);
        return;
    }
    switch (type_) {
    case SocketType::Push:
        return;
    case SocketType::Sub:
    case SocketType::XSub:
        if (!topics_.matches(first))
            return;
        break;
    case SocketType::Req:
        if (!awaitsReply_ || peer != partner_ || !first.empty() || message.size() < 2)
            return; // not the reply that is waited for
        message.erase(message.begin());
        break;
    case SocketType::Router:
        message.insert(message.begin(), bytesOf(peer->id));
        break;
    default:
        break;
    }
    if (options_.conflate)
        incoming_.clear();
    incoming_.push_back({std::move(message), peer});
    ++counters.received;
    receivers_.wakeInTurn(TaskPriority::ReadSocket);
}

Message MessageSocket::State::take() {
    if (incoming_.empty())
        throw client_invalid_operation();
    Incoming next = std::move(incoming_.front());
    incoming_.pop_front();
    if (pausedReaders_.isWaitedFor())
        pausedReaders_.wakeInTurn(TaskPriority::ReadSocket);
    if (type_ == SocketType::Req) {
        awaitsReply_ = false;
        partner_ = {};
    } else if (type_ == SocketType::Rep) {
        auto empty =
            std::find_if(next.message.begin(), next.message.end(), [](Bytes const& part) { return part.empty(); });
        if (empty != next.message.end())
            ++empty;
        envelope_.assign(std::make_move_iterator(next.message.begin()), std::make_move_iterator(empty));
        next.message.erase(next.message.begin(), empty);
        if (next.message.empty())
            next.message.push_back(Bytes());
        partner_ = next.from;
        awaitsReply_ = true;
    }
    return std::move(next.message);
}

// -------------------------------------------------------------------------------------------------------------------
// Sending

void MessageSocket::State::tellTopic(Peer& peer, std::string_view topic, bool isNew) {
    if (peer.minorVersion >= 1)
        peer.command(isNew ? "SUBSCRIBE" : "CANCEL", topic);
    else
        peer.push(messageOf(std::string(1, isNew ? '\1' : '\0').append(topic)), false);
}

void MessageSocket::State::subscribe(std::string_view topic, bool isNew) {
    if (!subscribes(type_))
        throw client_invalid_operation();
    bool changes = isNew ? topics_.add(topic) : topics_.remove(topic);
    if (!changes)
        return;
    if (isNew)
        subscriptions_.emplace(topic, 1);
    else
        subscriptions_.erase(std::string(topic));
    for (Reference<Peer> const& peer : peers_)
        if (peer->isOpen())
            tellTopic(*peer, topic, isNew);
}

Peer* MessageSocket::State::nextPeer(bool advance) {
    for (std::size_t i = 0; i < peers_.size(); ++i) {
        std::size_t index = (turn_ + i) % peers_.size();
        if (hasRoom(*peers_[index])) {
            if (advance)
                turn_ = index + 1;
            return peers_[index].getPtr();
        }
    }
    return nullptr;
}

Peer* MessageSocket::State::peerNamed(StringRef id) {
    auto found = byId_.find(std::string(view(id)));
    return found == byId_.end() ? nullptr : found->second;
}

void MessageSocket::State::checkMaySend(Message const& message) const {
    FLOW_ASSERT(!message.empty(), "a message has at least one part");
    bool isOutOfTurn = (type_ == SocketType::Req && awaitsReply_) || (type_ == SocketType::Rep && !awaitsReply_);
    if (!canSend(type_) || isOutOfTurn || (type_ == SocketType::Router && message.size() < 2))
        throw client_invalid_operation();
}

bool MessageSocket::State::couldSend(Message const& message) {
    switch (type_) {
    case SocketType::Pub:
    case SocketType::XPub:
    case SocketType::XSub:
    case SocketType::Rep:
        return true;
    case SocketType::Router: {
        Peer* peer = peerNamed(message[0]);
        return !peer || hasRoom(*peer);
    }
    default:
        return nextPeer(false) != nullptr;
    }
}

void MessageSocket::State::sendTo(Peer& peer, Message message) {
    peer.push(std::move(message), options_.conflate);
}

void MessageSocket::State::publish(Message const& message) {
    for (Reference<Peer> const& peer : peers_) {
        if (!peer->isOpen() || !peer->topics.matches(view(message[0])))
            continue;
        if (hasRoom(*peer))
            sendTo(*peer, message);
        else
            ++counters.dropped;
    }
}

bool MessageSocket::State::trySend(Message& message) {
    checkMaySend(message);
    if (!couldSend(message))
        return false;
    switch (type_) {
    case SocketType::Pub:
    case SocketType::XPub:
        publish(message);
        break;
    case SocketType::XSub: {
        std::string_view first = view(message[0]);
        if (message.size() == 1 && !first.empty() && static_cast<unsigned char>(first[0]) <= 1)
            subscribe(first.substr(1), first[0] == 1);
        else
            for (Reference<Peer> const& peer : peers_)
                if (hasRoom(*peer))
                    sendTo(*peer, message);
        break;
    }
    case SocketType::Router: {
        Peer* peer = peerNamed(message[0]);
        if (!peer) {
            if (options_.routerMandatory)
                throw host_unreachable();
            ++counters.dropped;
            break;
        }
        message.erase(message.begin());
        sendTo(*peer, std::move(message));
        break;
    }
    case SocketType::Rep: {
        message.insert(message.begin(), std::make_move_iterator(envelope_.begin()),
                       std::make_move_iterator(envelope_.end()));
        envelope_.clear();
        awaitsReply_ = false;
        Reference<Peer> peer = std::exchange(partner_, {});
        if (peer->isOpen())
            sendTo(*peer, std::move(message));
        else
            ++counters.dropped;
        break;
    }
    case SocketType::Req:
        message.insert(message.begin(), Bytes());
        partner_ = Reference<Peer>::addRef(nextPeer(true));
        awaitsReply_ = true;
        sendTo(*partner_, std::move(message));
        break;
    default:
        sendTo(*nextPeer(true), std::move(message));
    }
    message.clear();
    return true;
}

Future<Void> MessageSocket::State::send(Message message) {
    while (!trySend(message))
        co_await Room{this, &message};
}

Future<Void> MessageSocket::State::close(double linger) {
    double deadline = now() + linger;
    while (hasUnsent() && now() < deadline)
        co_await delay(std::min(0.005, deadline - now()));
    running_.clear();
    for (Reference<Peer> const& peer : peers_)
        if (peer->connection)
            peer->connection->close();
    for (Reference<Listener> const& listener : listeners_)
        listener->close();
    peers_.clear();
    byId_.clear();
    listeners_.clear();
}

// -------------------------------------------------------------------------------------------------------------------

bool MessageSocket::Receive::isReady() const {
    return state->isReadable();
}
void MessageSocket::Receive::park(WaiterNode& waiter) {
    state->parkReceiver(waiter, *this);
}
Message MessageSocket::Receive::take() const {
    return state->take();
}

MessageSocket::MessageSocket(SocketType type, MessageOptions options)
    : state_(std::make_unique<State>(type, std::move(options))) {}
MessageSocket::~MessageSocket() = default;

std::string MessageSocket::bind(std::string_view endpoint) {
    return state_->bind(endpoint);
}
void MessageSocket::connect(std::string_view endpoint) {
    state_->connect(endpoint);
}
void MessageSocket::subscribe(std::string_view topic) {
    state_->subscribe(topic, true);
}
void MessageSocket::unsubscribe(std::string_view topic) {
    state_->subscribe(topic, false);
}
Future<Void> MessageSocket::send(Message message) {
    return state_->send(std::move(message));
}
bool MessageSocket::trySend(Message& message) {
    return state_->trySend(message);
}
Future<Void> MessageSocket::close(double linger) {
    return state_->close(linger);
}
MessageCounters const& MessageSocket::counters() const {
    return state_->counters;
}
std::size_t MessageSocket::peers() const {
    return state_->openPeers();
}

} // namespace flow::net
