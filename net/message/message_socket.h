#pragma once
// MessageSocket: whole messages between any number of peers, as ZeroMQ's sockets give: ROUTER, DEALER, REQ, REP, PUB,
// SUB, XPUB, XSUB, PUSH, PULL, PAIR. Speaks ZMTP 3.1 and 3.0 on TCP and Unix sockets, real and simulated ones, so that
// peers may be programs with libzmq.
//
//     MessageSocket router(SocketType::Router);
//     router.bind("tcp://127.0.0.1:5555");
//     for (;;) {
//         Message request = co_await router.receive();     // parts: the peer's routing id, then what it has sent
//         co_await router.send(std::move(request));
//     }
//
//     MessageSocket updates(SocketType::Sub);
//     updates.subscribe("weather.");
//     updates.connect("tcp://127.0.0.1:5556");             // now or later: it connects, and connects again
//
// A message is one value of one or more parts; a part that shares the memory that it was received into keeps that as
// long as it lives, smaller ones are copies. receive() is an operation in place: what loses a race has taken nothing.
// send() is ready at once below the high-water mark; above it, its message is sent when there is room, or not at all if
// the future is dropped before. trySend() says no instead.
//
// What is lost, and when:
//     PUSH, DEALER, REQ, PAIR   nothing while a connection lives. What a connection had been given when it broke may be
//                               lost; what still waited here goes to the next connection.
//     ROUTER                    the same, but what waits for a peer goes with it. A message to a peer that is not there
//                               is dropped, or fails with host_unreachable if `routerMandatory` is set.
//     PUB, XPUB                 a subscriber that reads too slowly misses messages, and so does one that was not there.
//     SUB, XSUB, PULL, REP      what has been received but not taken goes with the socket.
// When nobody receives, reading from the peers stops, so that memory stays bounded and the senders wait.
//
// Belongs to one loop. Destroying it closes it at once; close() sends first what waits.

#include "flow/wait/source.h"
#include "net/connection.h"
#include "net/message/zmtp.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace flow::net {

enum class SocketType : std::uint8_t { Pair, Pub, Sub, Req, Rep, Dealer, Router, Pull, Push, XPub, XSub };

/// One or more parts.
using Message = std::vector<Bytes>;

/// A message of one part that is a copy of the text.
Message messageOf(std::string_view text);

/// The names that users of ZeroMQ know. A mark of 0 is none.
struct MessageOptions {
    std::size_t sendHighWater = 1000;     // messages that wait for each peer (SNDHWM)
    std::size_t receiveHighWater = 1000;  // messages that wait for receive(), of all peers (RCVHWM)
    std::string routingId;                // how ROUTERs name this socket (ROUTING_ID)
    bool routerMandatory = false;         // (ROUTER_MANDATORY)
    bool routerHandover = false;          // a new peer with a routing id that is in use replaces the old one
    bool immediate = false;               // messages wait only for peers that are connected (IMMEDIATE)
    bool conflate = false;                // only the last message is kept, in each direction (CONFLATE)
    double reconnectInterval = 0.1;       // seconds, doubled after each failure (RECONNECT_IVL)
    double reconnectIntervalMax = 5;      // (RECONNECT_IVL_MAX)
    double handshakeTimeout = 30;         // (HANDSHAKE_IVL)
    double heartbeatInterval = 0;         // seconds between PINGs; 0: none (HEARTBEAT_IVL)
    double heartbeatTimeout = 0;          // silence after which a peer is given up; 0: the interval (HEARTBEAT_TIMEOUT)
    std::string plainUser, plainPassword; // of a client (PLAIN_USERNAME, PLAIN_PASSWORD)
    /// Makes this a server that asks for PLAIN: whether the peer may come in.
    std::function<bool(std::string_view user, std::string_view password)> plainServer;
    zmtp::Limits limits;
};

/// What a socket has seen so far.
struct MessageCounters {
    std::uint64_t received = 0; // messages
    std::uint64_t sent = 0;
    std::uint64_t dropped = 0;      // PUB: for slow subscribers; ROUTER: to nobody
    std::uint64_t connected = 0;    // handshakes that succeeded
    std::uint64_t disconnected = 0; // of these: ended
    std::uint64_t refused = 0;      // handshakes that failed, and peers that broke the protocol
    zmtp::Fault lastFault = zmtp::Fault::None;
};

class MessageSocket {
public:
    class State;

    explicit MessageSocket(SocketType type, MessageOptions options = {});
    MessageSocket(MessageSocket const&) = delete;
    MessageSocket& operator=(MessageSocket const&) = delete;
    ~MessageSocket();

    /// Throws connection_string_invalid, address_in_use, and what Transport::listen() throws. The endpoint with the
    /// port that was chosen.
    std::string bind(std::string_view endpoint);
    /// Throws connection_string_invalid. Whether anybody is there shows later.
    void connect(std::string_view endpoint);

    /// Of a SUB or XSUB: messages that begin with this; each as often as it is cancelled.
    void subscribe(std::string_view topic);
    void unsubscribe(std::string_view topic);

    struct Receive {
        using Result = Message;
        State* state;
        bool isReady() const;
        void park(WaiterNode& waiter);
        Message take() const;
    };
    /// The next message, from the peers in turn. Of a ROUTER the first part is the peer's routing id. Names this
    /// socket, which must outlive it. Fails with client_invalid_operation for sockets that only send, and for a REQ
    /// that has no request under way.
    Receive receive() { return {state_.get()}; }

    /// Of a ROUTER the first part is the routing id. Fails with client_invalid_operation for sockets that only receive,
    /// a REQ that waits for its reply, and a REP that has nothing to reply to.
    [[nodiscard]] Future<Void> send(Message message);
    [[nodiscard]] Future<Void> send(std::string_view text) { return send(messageOf(text)); }
    /// False, and the message is left as it was, where send() would wait.
    bool trySend(Message& message);

    /// Ready when all that waits has been given to the machine, or after `linger` seconds; then this is closed.
    [[nodiscard]] Future<Void> close(double linger);

    MessageCounters const& counters() const;
    /// Peers that have shaken hands.
    std::size_t peers() const;

private:
    std::unique_ptr<State> state_;
};

} // namespace flow::net
