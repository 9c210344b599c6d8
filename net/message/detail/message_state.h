#pragma once
// The state of a MessageSocket: its peers and queues. Only net/message uses it.

#include "flow/base/random.h"
#include "flow/loop/turn.h"
#include "flow/tasks/scope.h"
#include "net/message/detail/handshake.h"
#include "net/message/detail/peer.h"
#include "net/message/message_endpoint.h"

#include <algorithm>
#include <map>
#include <set>

namespace flow::net {

inline bool oneOf(SocketType type, std::initializer_list<SocketType> types) {
    return std::find(types.begin(), types.end(), type) != types.end();
}
inline bool publishes(SocketType type) {
    return oneOf(type, {SocketType::Pub, SocketType::XPub});
}
inline bool subscribes(SocketType type) {
    return oneOf(type, {SocketType::Sub, SocketType::XSub});
}
inline bool canReceive(SocketType type) {
    return !oneOf(type, {SocketType::Pub, SocketType::Push});
}
inline bool canSend(SocketType type) {
    return !oneOf(type, {SocketType::Sub, SocketType::Pull});
}

/// True if the bytes are equal. Compares up to 16 bytes without a call, because routing ids are short.
FLOW_INLINE bool sameBytes(char const* a, char const* b, std::size_t size) {
    if (size > 16)
        return std::memcmp(a, b, size) == 0;
    auto differ = [&](auto word, std::size_t at) {
        auto other = word;
        std::memcpy(&word, a + at, sizeof word);
        std::memcpy(&other, b + at, sizeof other);
        return word != other;
    };
    if (size >= 8)
        return !differ(std::uint64_t{}, 0) && !differ(std::uint64_t{}, size - 8);
    if (size >= 4)
        return !differ(std::uint32_t{}, 0) && !differ(std::uint32_t{}, size - 4);
    for (std::size_t i = 0; i < size; ++i)
        if (a[i] != b[i])
            return false;
    return true;
}

/// Returns a random number generator. In a simulation its numbers depend on the seed.
inline DeterministicRandom& chance() {
    return *(Loop::current().isSimulated() ? deterministicRandom() : nondeterministicRandom());
}

/// The inproc:// names of one loop, with the sockets that are bound to them.
struct InprocNames {
    std::map<std::string, MessageSocket::State*, std::less<>> bound;
};

class MessageSocket::State {
public:
    using Found = Input::Found;

    State(SocketType type, MessageOptions options);
    ~State();

    std::string bind(std::string_view endpoint);
    void connect(std::string_view endpoint);
    void subscribe(std::string_view topic, bool isNew);
    bool trySend(Message& message);
    Future<Void> close(double linger);

    // Receive.

    FLOW_INLINE bool isReadable() {
        if (isDirect_ && current_ && arrived_.empty()) [[likely]]
            if (current_->input.messages() != 0 || current_->input.findShort(frameLimits_))
                return true;
        return findMessage();
    }
    FLOW_INLINE Message take() {
        if (isDirect_ && current_ && arrived_.empty() && current_->input.messages() != 0) [[likely]] {
            ++counters_.received;
            Message message = current_->input.take();
            if (type_ == SocketType::Router)
                message.setRoute(current_->route);
            return message;
        }
        return takeSlow();
    }
    bool isNextReceiver(Receive const& operation) { return receivers_.isNext(operation); }
    void parkReceiver(WaiterNode& waiter, Receive& operation) { receivers_.park(waiter, operation); }

    // Send.

    FLOW_INLINE bool couldSend(Send const& operation) {
        if (operation.body && isLast(operation.what, operation.idBytes)) [[likely]]
            return true;
        return couldSendSlow(operation);
    }
    FLOW_INLINE void send(Send const& operation) {
        if (operation.body && isLast(operation.what, operation.idBytes)) [[likely]] {
            lastPeer_->output.append({operation.body, operation.bodyBytes});
            ++counters_.sent;
            return appended(*lastPeer_);
        }
        sendSlow(operation);
    }
    void parkSender(WaiterNode& waiter, Send& operation);

    FutureStream<MonitorEvent> monitor();
    MessageCounters counters() const;
    /// Returns a text for reports: the type, the endpoints and the peers.
    std::string description() const;
    /// True for a REQ that has sent a request and has not received the reply.
    bool awaitsReply() const { return type_ == SocketType::Req && awaitsReply_; }
    double linger() const { return options_.linger; }
    std::size_t openPeers() const {
        return static_cast<std::size_t>(
            std::count_if(peers_.begin(), peers_.end(), [](Reference<Peer> const& peer) { return peer->isOpen(); }));
    }

private:
    struct StateTurn : Turn {
        StateTurn(void (*run)(Turn&), State& s) : Turn(run), state(&s) {}
        State* state;
    };
    struct Arrived {
        Message message; // if it has no parts, `from` has ended, and takeArrived() cancels its topics
        Reference<Peer> from;
    };

    // message_connections.cpp
    Future<Void> accept(Reference<Listener> listener, MessageEndpoint endpoint);
    Future<Void> serve(Reference<Peer> peer);
    Reference<Peer> addPeer(Reference<Peer> peer);
    Future<Void> keepConnected(MessageEndpoint to);
    /// Connects once, and serves the connection until it ends.
    Future<Void> connectOnce(Reference<Peer> peer, MessageEndpoint to);
    /// Encrypts the peer's connection if `to` requires it. Returns false after a failed TLS handshake.
    Future<bool> encrypt(Reference<Peer> peer, MessageEndpoint to);
    Future<Void> reportFailedTls(std::string client);
    void tlsFailed(std::string with);
    Future<Void> run(Reference<Peer> peer);
    Future<Void> shakeHandsInTime(Reference<Peer> peer);
    void sendError(Peer& peer);
    void open(Peer& peer);
    void nameRoute(Peer& peer);
    void conclude(Peer& peer, Peer* next);
    Reference<Peer> replace(Reference<Peer> const& ended);
    void removeName(Peer& peer);
    void report(MonitorEvent::Kind kind, std::string endpoint, zmtp::Fault fault = zmtp::Fault::None);
    void bindInproc(std::string_view name);
    Future<Void> connectInproc(std::string name);
    Future<Void> serveTwin(Reference<Peer> peer);
    bool hasFarewells();
    void end();
    void join(Peer& ours, State& other);
    void openTwin(Peer& peer);
    ConnectOptions connectOptions() const;

    // message_liveness.cpp
    Future<Void> beat(Reference<Peer> peer);
    void pinged(Peer& peer, std::string_view data);
    Future<Void> expire(Peer& peer);
    void pause(Peer& peer);
    Future<Void> assure(Peer& peer);
    bool isSilentSince(Peer& peer, double time);

    // message_receive.cpp
    bool findMessage();
    bool findArrived();
    bool findAt(Peer& peer);
    bool isWanted(Peer& peer);
    Message takeSlow();
    Message takeFrom(Peer& peer);
    void discardFirst(Peer& peer);
    Found find(Peer& peer);
    zmtp::Fault openFrame(Peer& peer, std::string_view body);
    bool readOn(Peer& peer);
    void readAhead(Peer& peer);
    void readAheadIfIdle();
    bool isAtMark(Peer const& peer) const;
    void waitForInput(Peer& peer);
    void inputCame(Peer& peer);
    void list(Peer& peer) {
        if (!peer.link.isLinked())
            pushBack(ready_, peer.link);
    }
    void unlist(Peer& peer);
    void handleCommand(Peer& peer, zmtp::Frame const& frame);
    void arrive(Message message, Peer& from);
    Arrived takeArrived();
    void discardReplies(Peer& peer);
    void subscriptionCame(Peer& peer, std::string_view topic, bool isNew);
    bool handlePublished(Peer& peer);
    bool mayReceive() const { return canReceive(type_) && (type_ != SocketType::Req || awaitsReply_); }

    // message_send.cpp
    FLOW_INLINE bool isLast(void const* id, std::size_t idBytes) const {
        return lastPeer_ && lastPeer_->isOpen() && lastName_.size() == idBytes &&
               sameBytes(lastName_.data(), static_cast<char const*>(id), idBytes) && hasRoomNow(*lastPeer_);
    }
    bool hasRoomNow(Peer const& peer) const {
        return peer.output.messages() < sndMessages_ && peer.output.bytes() < sndBytes_;
    }
    bool hasRoom(Peer& peer);
    FLOW_INLINE void appended(Peer& peer) {
        if (peer.output.bytes() >= Output::kBatch && !peer.isBlocked) [[unlikely]]
            flush(peer);
        else if (!peer.isDirty)
            makeDirty(peer);
    }
    void makeDirty(Peer& peer);
    void flushDirty();
    void flush(Peer& peer);
    bool fillOutput(Peer& peer);
    void outputDrained(Peer& peer);
    bool couldSendSlow(Send const& operation);
    /// Returns the receiver of a ROUTER's message; null if there is none.
    Peer* receiverOf(Send const& operation);
    void sendSlow(Send const& operation);
    bool couldSend(Message const& message);
    /// Returns the first peer with room, from peers_[turn_] on, or null. `advance`: moves turn_ behind this peer.
    Peer* nextPeer(bool advance);
    /// Sets lastPeer_ to `peer`, or to null if sending to it needs more checks. Except at a ROUTER, lastPeer_ is the
    /// only peer. Call setLastPeer(nullptr) after each change of `peers_`.
    void setLastPeer(Peer* peer);
    Peer* peerNamed(std::string_view id);
    Peer* peerOf(Message const& message);
    void sendTo(Peer& peer, std::string_view frames, std::size_t parts, Message const& message);
    void command(Peer& peer, std::string_view name, std::string_view data);
    void publish(Message const& message);
    void checkMaySend(Message const& message) const;
    void sendNow(Message& message);
    void sendTopic(Peer& peer, std::string_view topic, bool isNew);
    bool hasUnsent() const {
        return std::any_of(peers_.begin(), peers_.end(),
                           [](Reference<Peer> const& peer) { return !peer->output.isEmpty() || !peer->queue.empty(); });
    }

    SocketType type_;
    MessageOptions options_;
    MessageCounters counters_;
    zmtp::Limits frameLimits_; // the limits of frames before decryption
    bool isDirect_;            // receive() returns each message of find(), without more checks
    bool isQueued_;            // messages wait in Peer::queue before they go to Peer::output
    std::size_t sndMessages_, sndBytes_;
    Reference<Peer> current_;     // receive() takes messages from this peer
    Reference<Peer> lastPeer_;    // the receiver of the last sendBytes(), for the fast path; or null
    std::string lastName_;        // the routing id of lastPeer_; empty if this is no ROUTER
    bool hasRead_ = false;        // current_ was read since it was chosen: then other ready peers are next
    ListLink ready_;              // other peers that may have messages
    std::deque<Arrived> arrived_; // receive() takes these before the messages in the inputs
    std::size_t arrivedBytes_ = 0;
    std::vector<Reference<Peer>> peers_;
    std::map<std::string, Reference<PeerName>, std::less<>> byId_; // only at a ROUTER
    std::vector<std::string> departed_;                            // names in byId_ with waiting senders and no peer
    std::size_t turn_ = 0;
    std::uint32_t lastId_;                                  // the last id that this ROUTER has made
    std::set<std::string> connected_;                       // endpoints, for types that connect only once to each
    std::map<std::string, int, std::less<>> subscriptions_; // topics, with the number of subscribe() calls
    TopicSet topics_;                                       // the same topics, for matches()
    // REQ and REP
    bool awaitsReply_ = false;
    Reference<Peer> partner_; // REQ: the peer that replies; REP: the peer that gets the reply
    Message envelope_;
    std::vector<Reference<Peer>> dirty_;
    StateTurn flushTurn_;
    StateTurn idleTurn_; // after a receive(): reads ahead, unless another receive() waits
    Source<Receive> receivers_;
    Source<Send> senders_;
    std::vector<Reference<Listener>> listeners_;
    std::vector<std::string> inproc_;
    std::shared_ptr<InprocNames> names_;
    PromiseStream<MonitorEvent> monitor_;
    bool isMonitored_ = false;
    Scope running_{OnError::Report}; // last, because the tasks use the other members
};

} // namespace flow::net
