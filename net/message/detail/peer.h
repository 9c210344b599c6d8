#pragma once
// Peer: one connection of a MessageSocket, with its input and output. The next connection to the same endpoint is
// another Peer, which gets the unsent messages. Only net/message uses this file.

#include "flow/core/ring_queue.h"
#include "net/message/detail/cipher.h"
#include "net/message/detail/input.h"
#include "net/message/detail/output.h"
#include "net/message/detail/topic_set.h"
#include "net/message/message_endpoint.h"
#include "net/message/message_socket.h"

#include <deque>
#include <memory>

namespace flow::net {

class Peer;

/// A routing id at a ROUTER. Senders wait here and not at a Peer, because the name may get another connection.
struct PeerName : ReferenceCounted<PeerName> {
    Peer* peer = nullptr; // the last connection with this name; null after its end
    Source<MessageSocket::Send> senders;
};

class Peer : public ReferenceCounted<Peer> {
public:
    /// The phases of a connection, in order. Some may be skipped.
    enum class Phase : std::uint8_t {
        Unused, // not connected yet
        Shaking,
        Open,
        Over, // ended; the task that serves the connection closes it in a later turn
    };
    /// Waits until the connection is over.
    struct Over {
        using Result = Void;
        Peer* peer;
        bool isReady() const { return peer->isOver(); }
        void park(WaiterNode& waiter) { peer->over.park(waiter, *this); }
        Void take() const { return Void(); }
    };

    explicit Peer(MessageSocket::State* s) : state(s) { link.owner = this; }
    ~Peer() {
        if (link.isLinked())
            link.unlink();
        if (route)
            route->peer = nullptr;
        if (name && name->peer == this)
            name->peer = nullptr;
    }

    bool isOpen() const { return phase == Phase::Open; }
    bool isOver() const { return phase == Phase::Over; }
    /// Returns the number of complete received messages.
    std::size_t available() const { return input.messages() + inbox.size(); }
    std::size_t waiting() const { return output.messages() + queue.size(); }
    void putInbox(Message message) {
        inboxBytes += message.wire().size();
        inbox.push(std::move(message));
    }
    Message takeInbox() {
        Message message = inbox.pop();
        inboxBytes -= message.wire().size();
        return message;
    }
    /// Marks the connection as over: see Phase::Over.
    void end(zmtp::Fault why) {
        if (isOver())
            return;
        phase = Phase::Over;
        fault = why;
        over.wakeInTurn(TaskPriority::ReadSocket);
    }

    struct Place : ListLink {
        Place() : ListLink{nullptr, nullptr} {}
        Peer* owner = nullptr;
    };

    MessageSocket::State* state;
    Reference<Connection> connection; // null: not connected, or inproc
    MessageEndpoint endpoint;
    Reference<Peer> twin; // inproc: the peer at the other end
    Input input;
    Output output;
    std::deque<Message> queue; // unsent messages that later go to `output` (CONFLATE, CURVE) or the twin
    std::size_t queueBytes = 0;
    RingQueue<Message> inbox; // inproc: received messages; CURVE: decrypted messages
    std::size_t inboxBytes = 0;
    std::unique_ptr<Cipher> cipher;
    Message opened; // CURVE: the parts so far of the next message
    Place link;     // in the list State::ready_
    Phase phase = Phase::Unused;
    bool wasOpen = false;
    bool isAccepted = false;
    bool isInproc = false;
    bool isBlocked = false; // the kernel takes no more of `output`
    bool isDirty = false;   // `output` will be flushed at the end of the turn
    bool isPaused = false;  // not read, because the input is at the high-water marks
    int minorVersion = 0;
    std::string id;
    Reference<Route> route;   // at a ROUTER
    Reference<PeerName> name; // at a ROUTER
    TopicSet topics;          // at a PUB: the peer's subscriptions
    double lastHeard = 0;
    double lastPing = 0; // the time of the peer's last PING, or of open()
    double pingGap = 0;  // seconds between the peer's last two PINGs; 0: unknown
    double ttl = 0;      // the TTL in the peer's last PING, in seconds; 0: none
    Future<Void> expiry;
    Future<Void> assuring;                 // sends PONGs while the peer is paused
    zmtp::Fault fault = zmtp::Fault::None; // the reason of the disconnect
    HandlerSlot reading, writing;
    Source<Over> over;
};

} // namespace flow::net
