#include "net/message/message_socket.h"

#include "flow/coro/coroutine.h"
#include "flow/wait/delay.h"
#include "net/message/message_state.h"

namespace flow::net {

using zmtp::Fault;

Message messageOf(std::string_view text) {
    Message message;
    message.push_back(bytesOf(text));
    return message;
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
