// The options, the public functions and the end of a MessageSocket. The other message_*.cpp files have the rest.
//
// close() first waits until all messages are sent. Then it ends the writing of each connection, and reads until the
// other side has ended its writing too. Finally end() closes listeners and connections, and counts the lost messages.

#include "net/message/message_socket.h"

#include "flow/base/format.h"
#include "flow/coro/coroutine.h"
#include "flow/wait/delay.h"
#include "net/message/curve.h"
#include "net/message/detail/message_state.h"
#include "net/message/z85.h"

#include <algorithm>
#include <limits>

namespace flow::net {
namespace {

constexpr double kFarewell = 1;    // seconds for the other side to end its writing
constexpr int kFarewellReads = 64; // the most reads of a connection in one turn: its peer may never stop
constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

void check(bool isValid, char const* option, std::string const& value, char const* rule) {
    if (!isValid)
        throw wrongOption("MessageOptions", option, value, rule);
}

void check(MessageOptions const& options) {
    bool isCurve = options.curveServer || !options.curveServerKey.empty();
    char const* excluded = "curveServer and curveServerKey exclude it";
    check(!isCurve || !options.plainServer, "plainServer", "set", excluded);
    check(!isCurve || options.plainUsername.empty(), "plainUsername", "set", excluded);
    check(!options.curveServer || options.curveServerKey.empty(), "curveServerKey", "set", "curveServer excludes it");
    check(!isCurve || !options.curveSecretKey.empty(), "curveSecretKey", "empty", "CURVE needs it");
    check(!options.plainServer || options.authenticator, "authenticator", "not set", "plainServer needs it");
    using Number = std::pair<char const*, int>;
    for (auto [option, value] :
         {Number("sndBuf", options.sndBuf), Number("rcvBuf", options.rcvBuf), Number("backlog", options.backlog)})
        check(value >= 0, option, std::to_string(value), "it must not be negative");
    using Text = std::pair<char const*, std::string const&>;
    for (auto const& [option, value] :
         {Text("routingId", options.routingId), Text("plainUsername", options.plainUsername),
          Text("plainPassword", options.plainPassword)})
        check(value.size() <= 255, option, format("%zu bytes long", value.size()), "it must have at most 255 bytes");
    using Time = std::pair<char const*, double>;
    for (auto [option, value] :
         {Time("linger", options.linger), Time("reconnectIvlMax", options.reconnectIvlMax),
          Time("handshakeIvl", options.handshakeIvl), Time("heartbeatIvl", options.heartbeatIvl),
          Time("heartbeatTimeout", options.heartbeatTimeout), Time("heartbeatTtl", options.heartbeatTtl)})
        check(value >= 0, option, format("%g", value), "it must not be negative");
    check(options.reconnectIvl > 0, "reconnectIvl", format("%g", double(options.reconnectIvl)),
          "it must be more than 0");
}

/// Replaces `key` by its bytes.
void readKey(char const* option, std::string& key) {
    if (key.empty())
        return;
    std::optional<std::string> read = z85Key(key);
    check(read.has_value(), option, "no key", "it must have 32 bytes, or 40 characters of Z85");
    key = *read;
}

void readKeys(MessageOptions& options) {
    if (!options.curveServer && options.curveServerKey.empty())
        return;
    if (!hasCurve())
        throw unsupported_operation().withSentence("MessageOptions: the library was built without libsodium for CURVE");
    readKey("curveSecretKey", options.curveSecretKey);
    readKey("curvePublicKey", options.curvePublicKey);
    readKey("curveServerKey", options.curveServerKey);
    options.curvePublicKey = curvePublicKey(options.curveSecretKey);
}

} // namespace

MessageSocket::State::State(SocketType type, MessageOptions options)
    : type_(type), options_(std::move(options)),
      flushTurn_([](Turn& turn) { static_cast<StateTurn&>(turn).state->flushDirty(); }, *this),
      idleTurn_([](Turn& turn) { static_cast<StateTurn&>(turn).state->readAheadIfIdle(); }, *this) {
    check(options_);
    readKeys(options_);
    bool isCurve = options_.curveServer || !options_.curveServerKey.empty();
    ready_.reset();
    // Random, so that an answer to a peer of an earlier run of this program finds no peer.
    lastId_ = chance().randomUInt32();
    options_.limits.messageBytes = std::min(options_.limits.messageBytes, Message::kLargest);
    isDirect_ = !options_.conflate && !isCurve &&
                oneOf(type_, {SocketType::Router, SocketType::Dealer, SocketType::Pull, SocketType::Pair});
    isQueued_ = options_.conflate || isCurve;
    frameLimits_ = options_.limits;
    if (isCurve)
        frameLimits_.messageBytes += 64; // the overhead of encryption
    sndMessages_ = options_.sndHwm == 0 ? kNone : options_.sndHwm;
    sndBytes_ = options_.sndHwmBytes == 0 ? kNone : options_.sndHwmBytes;
}

MessageSocket::State::~State() {
    flushDirty();
    end();
}

/// Closes everything immediately, and counts unsent messages as dropped.
void MessageSocket::State::end() {
    running_.close();
    idleTurn_.takeBack();
    for (Reference<Peer> const& peer : peers_) {
        counters_.dropped += peer->waiting();
        unlist(*peer);
        peer->phase = Peer::Phase::Over;
        peer->expiry = peer->assuring = {};
        peer->reading.cancel();
        peer->writing.cancel();
        if (peer->connection)
            peer->connection->close();
        if (peer->twin) {
            peer->twin->twin = {};
            peer->twin->end(zmtp::Fault::None);
        }
        peer->twin = {};
    }
    for (Reference<Listener> const& listener : listeners_)
        listener->close();
    for (std::string const& name : inproc_)
        names_->bound.erase(name);
    inproc_.clear();
    setLastPeer(nullptr);
    peers_.clear();
    byId_.clear();
    listeners_.clear();
}

Future<Void> MessageSocket::State::close(double linger) {
    double deadline = now() + linger;
    flushDirty();
    while (hasUnsent() && now() < deadline)
        co_await delay(std::min(0.005, deadline - now()));
    running_.close();
    double patience = std::min(deadline, now() + kFarewell);
    while (counters_.sent != 0 && hasFarewells() && now() < patience)
        co_await delay(0.005);
    end();
}

/// Ends the writing of each connection, and reads. (A close with unread bytes resets the connection, and sent bytes may
/// be lost.) Returns false when all other sides have ended their writing.
bool MessageSocket::State::hasFarewells() {
    bool areSome = false;
    for (Reference<Peer> const& peer : peers_) {
        if (!peer->connection || peer->connection->failure().isValid())
            continue;
        peer->reading.cancel();
        peer->writing.cancel();
        if (!peer->isOver())
            peer->connection->shutdownWrite();
        peer->phase = Peer::Phase::Over;
        Input::Read read = Input::Read::Some;
        for (int i = 0; i < kFarewellReads && read == Input::Read::Some; ++i) {
            peer->input = Input();
            read = peer->input.read(*peer->connection);
        }
        areSome |= read != Input::Read::End;
        if (read == Input::Read::Nothing && !peer->reading.isWaiting())
            call(peer->connection->readable(), peer->reading, [](Error) {});
    }
    return areSome;
}

FutureStream<MonitorEvent> MessageSocket::State::monitor() {
    monitor_ = PromiseStream<MonitorEvent>();
    isMonitored_ = true;
    return monitor_.getFuture();
}

MessageCounters MessageSocket::State::counters() const {
    MessageCounters all = counters_;
    for (Reference<Peer> const& peer : peers_)
        if (peer->connection)
            all.calls += peer->connection->counters();
    return all;
}

namespace {

/// Returns a text such as "a, b, c, d and 3 more".
std::string listOf(std::vector<std::string> const& names) {
    constexpr std::size_t kMost = 4;
    std::string text;
    for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i)
        text += (i == 0 ? "" : ", ") + names[i];
    return names.size() > kMost ? text + format(" and %zu more", names.size() - kMost) : text;
}

} // namespace

std::string MessageSocket::State::description() const {
    std::vector<std::string> bound, peers;
    for (Reference<Listener> const& listener : listeners_)
        bound.push_back(listener->localAddress().toString());
    for (std::string const& name : inproc_)
        bound.push_back("inproc://" + name);
    std::size_t unread = arrived_.size();
    for (Reference<Peer> const& peer : peers_) {
        unread += peer->available();
        if (!peer->isOpen())
            continue;
        std::string name = peer->isInproc ? "inproc" : peer->endpoint.text();
        if (std::size_t unsent = peer->waiting())
            name += format(" (%zu unsent)", unsent);
        peers.push_back(std::move(name));
    }
    std::string text = "a " + std::string(nameOf(type_));
    if (!bound.empty())
        text += " bound to " + listOf(bound);
    text += peers.empty() ? " without peers" : format(" with %zu peer%s: ", peers.size(), peers.size() == 1 ? "" : "s");
    text += listOf(peers);
    return unread == 0 ? text : text + format("; %zu unread", unread);
}

// -------------------------------------------------------------------------------------------------------------------

void MessageSocket::Receive::describe(Description& out) const {
    out.text = (state->awaitsReply() ? "a reply at " : "a message at ") + state->description();
}
void MessageSocket::Send::describe(Description& out) const {
    out.text = "room for a message at " + state->description();
}
bool MessageSocket::Receive::isReady() const {
    return state->isNextReceiver(*this) && state->isReadable();
}
void MessageSocket::Receive::park(WaiterNode& waiter) {
    state->parkReceiver(waiter, *this);
}
Message MessageSocket::Receive::take() const {
    Message message = state->take();
    TurnBudget::useBytes(message.wire().size());
    return message;
}
bool MessageSocket::Send::isReady() const {
    return state->couldSend(*this);
}
void MessageSocket::Send::park(WaiterNode& waiter) {
    state->parkSender(waiter, *this);
}
Void MessageSocket::Send::take() const {
    TurnBudget::useBytes(body ? bodyBytes : static_cast<Message const*>(what)->wire().size());
    state->send(*this);
    return Void();
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
namespace {
Future<Void> sendLater(MessageSocket& socket, Message message) {
    co_await socket.send(message);
}
} // namespace
Future<Void> MessageSocket::send(Message&& message) {
    try {
        if (TurnBudget::takeOne() && state_->trySend(message))
            return Void();
    } catch (Error& error) {
        return error;
    }
    return sendLater(*this, std::move(message));
}
bool MessageSocket::trySend(Message& message) {
    return state_->trySend(message);
}
Future<Void> MessageSocket::close(Seconds linger) {
    return state_->close(linger);
}
Future<Void> MessageSocket::close() {
    return state_->close(state_->linger());
}
FutureStream<MonitorEvent> MessageSocket::monitor() {
    return state_->monitor();
}
MessageCounters MessageSocket::counters() const {
    return state_->counters();
}
std::size_t MessageSocket::peers() const {
    return state_->openPeers();
}

} // namespace flow::net
