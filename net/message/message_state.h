#pragma once
// The state of a MessageSocket: its peers, and what waits in each direction. Used by net/message alone.

#include "flow/lib/collection.h"
#include "net/message/handshake.h"
#include "net/transport.h"

#include <algorithm>
#include <map>

namespace flow::net {

inline bool oneOf(SocketType type, std::initializer_list<SocketType> types) {
    return std::find(types.begin(), types.end(), type) != types.end();
}
inline bool canReceive(SocketType type) {
    return !oneOf(type, {SocketType::Pub, SocketType::Push});
}
inline bool canSend(SocketType type) {
    return !oneOf(type, {SocketType::Sub, SocketType::Pull});
}
inline bool publishes(SocketType type) {
    return oneOf(type, {SocketType::Pub, SocketType::XPub});
}
inline bool subscribes(SocketType type) {
    return oneOf(type, {SocketType::Sub, SocketType::XSub});
}

inline std::string_view view(StringRef bytes) {
    return {reinterpret_cast<char const*>(bytes.begin()), static_cast<std::size_t>(bytes.size())};
}
inline Bytes bytesOf(std::string_view text) {
    return StringRef(text);
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
    std::map<std::string, Peer*> byId_; // ROUTER
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

} // namespace flow::net
