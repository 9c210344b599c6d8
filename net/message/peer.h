#pragma once
// Peer: one connection of a MessageSocket: what has come on it, and what waits to be sent. Used by net/message alone.

#include "net/message/cipher.h"
#include "net/message/input.h"
#include "net/message/message_socket.h"
#include "net/message/output.h"
#include "net/message/topic_set.h"

#include <deque>
#include <memory>

namespace flow::net {

class Peer : public ReferenceCounted<Peer> {
public:
    /// When the connection is to be given up.
    struct Over {
        using Result = Void;
        Peer* peer;
        bool isReady() const { return peer->isOver; }
        void park(WaiterNode& waiter) { peer->over.park(waiter, *this); }
        Void take() const { return Void(); }
    };

    explicit Peer(MessageSocket::State* s) : state(s) { link.owner = this; }

    /// Messages may be given to it: it is connected, or will be again.
    bool isOpen() const { return isShaken; }
    /// Messages that have come and are whole.
    std::size_t available() const { return input.messages() + inbox.size(); }
    std::size_t waiting() const { return output.messages() + queue.size(); }
    /// The connection is given up in a turn of its own.
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
    Reference<Peer> twin;             // inproc: the other end
    Input input;
    Output output;
    std::deque<Message> queue; // in front of `output`, where messages change once more: CONFLATE, CURVE
    std::size_t queueBytes = 0;
    std::deque<Message> inbox; // inproc: what has come; CURVE: what was opened
    std::unique_ptr<Cipher> cipher;
    Message opened;          // CURVE: the parts so far of the next message
    Place link;              // among those that may have something to receive
    bool isShaken = false;   // the handshake is over
    bool isAccepted = false; // it has connected to us
    bool isBlocked = false;  // the machine takes no more of `output`
    bool isDirty = false;    // it will be flushed when this turn ends
    bool isOver = false;
    bool isPaused = false; // as much is here as the marks allow
    int minorVersion = 0;
    std::string id;
    std::string user; // as the authenticator has it
    Reference<Route> route;
    TopicSet topics; // PUB: what it has subscribed to
    double lastHeard = 0;
    zmtp::Fault fault = zmtp::Fault::None; // why it is given up
    HandlerSlot reading, writing;
    Source<MessageSocket::Send> senders; // ROUTER: those that wait for room here
    Source<Over> over;
};

} // namespace flow::net
