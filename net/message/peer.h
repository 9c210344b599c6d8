#pragma once
// Peer: one connection of a MessageSocket, with its input and its output. Used by net/message alone.

#include "flow/core/ring_queue.h"
#include "net/message/cipher.h"
#include "net/message/endpoint.h"
#include "net/message/input.h"
#include "net/message/message_socket.h"
#include "net/message/output.h"
#include "net/message/topic_set.h"

#include <deque>
#include <memory>

namespace flow::net {

class Peer : public ReferenceCounted<Peer> {
public:
    /// The time at which the connection is closed.
    struct Over {
        using Result = Void;
        Peer* peer;
        bool isReady() const { return peer->isOver; }
        void park(WaiterNode& waiter) { peer->over.park(waiter, *this); }
        Void take() const { return Void(); }
    };

    explicit Peer(MessageSocket::State* s) : state(s) { link.owner = this; }

    /// Whether it takes messages: it is connected, or will be again.
    bool isOpen() const { return isShaken; }
    /// Complete received messages.
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
    /// Closes the connection in a turn of its own.
    void end(zmtp::Fault why) {
        if (std::exchange(isOver, true))
            return;
        fault = why;
        over.wakeInTurn(TaskPriority::ReadSocket);
    }

    struct Place : ListLink {
        Place() : ListLink{nullptr, nullptr} {}
        Peer* owner = nullptr;
    };

    MessageSocket::State* state;
    Reference<Connection> connection; // null: not connected, or a twin
    MessageEndpoint endpoint;         // of the other side of the connection
    Reference<Peer> twin;             // inproc: the other end
    Input input;
    Output output;
    std::deque<Message> queue; // before `output`: messages that can still change (CONFLATE, CURVE); before a twin
    std::size_t queueBytes = 0;
    RingQueue<Message> inbox; // inproc: received messages; CURVE: decrypted messages
    std::size_t inboxBytes = 0;
    std::unique_ptr<Cipher> cipher;
    Message opened;          // CURVE: the parts so far of the next message
    Place link;              // in the list of peers that may have messages
    bool isShaken = false;   // the handshake is done
    bool isAccepted = false; // it has connected to us
    bool isInproc = false;
    bool isBlocked = false; // the kernel takes no more of `output`
    bool isDirty = false;   // it will be flushed when this turn ends
    bool isOver = false;
    bool isPaused = false; // the input has reached the marks
    int minorVersion = 0;
    std::string id;
    Reference<Route> route;
    TopicSet topics; // PUB: its subscriptions
    double lastHeard = 0;
    double ttl = 0;                        // of its PINGs: its connection ends after so much silence; 0: never
    Future<Void> expiry;                   // waits for that
    zmtp::Fault fault = zmtp::Fault::None; // the reason of the disconnect
    HandlerSlot reading, writing;
    Source<MessageSocket::Send> senders; // ROUTER: senders that wait for room here
    Source<Over> over;
};

} // namespace flow::net
