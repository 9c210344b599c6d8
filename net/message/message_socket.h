#pragma once
// MessageSocket: whole messages between any number of peers, as ZeroMQ's sockets give: ROUTER, DEALER, REQ, REP, PUB,
// SUB, XPUB, XSUB, PUSH, PULL, PAIR. Speaks ZMTP 3.1 and 3.0 on TCP and Unix sockets, real and simulated ones, so that
// peers may be programs with libzmq; and inproc://, between sockets of one loop.
//
//     MessageSocket router(SocketType::Router);
//     router.bind("tcp://127.0.0.1:5555");
//     for (;;) {
//         Message request = co_await router.receive();     // request.routingId() says from whom
//         co_await router.send(request);                   // back to that peer
//     }
//
//     MessageSocket updates(SocketType::Sub);
//     updates.subscribe("weather.");
//     updates.connect("tcp://127.0.0.1:5556");             // now or later: it connects, and connects again
//
// receive() and send(message) are operations in place (flow/core/in_place.h): they are waited for in every style, and
// what loses a race has received nothing, or sent nothing and left its message as it was. Below the high-water mark
// send() is ready at once. What has been accepted is sent at the end of the turn, or when 64 KiB wait.
//
// Nothing that was accepted is lost while its connection lives: when nobody receives, reading from the peers stops, so
// that memory stays bounded and the senders wait. net/message/README.md has a table of what each type loses when a
// connection breaks; it is counted in counters().
//
// Belongs to one loop. Destroying it gives the machine what it takes at once, and closes; close() sends all that waits
// first. What lost a race with close() may not be used after it.

#include "flow/core/stream.h"
#include "flow/wait/source.h"
#include "net/message/message.h"
#include "net/transport.h"

#include <functional>
#include <memory>

namespace flow::net {

enum class SocketType : std::uint8_t { Pair, Pub, Sub, Req, Rep, Dealer, Router, Pull, Push, XPub, XSub };

/// What a peer that connects says of itself.
struct Credentials {
    std::string mechanism; // NULL, PLAIN or CURVE
    std::string user;      // PLAIN: the name; CURVE: the public key, as Z85
    std::string password;  // PLAIN
    std::string address;   // where it connects from
};

/// Named as ZeroMQ's socket options are; times are in seconds. A mark of 0 is none.
struct MessageOptions {
    std::size_t sndHwm = 1000;                      // messages that wait for each peer
    std::size_t sndHwmBytes = std::size_t{4} << 20; // bytes of them; a larger message is accepted when nothing waits
    std::size_t rcvHwm = 1000;           // messages of each peer that are here before receive() asks for them
    std::size_t rcvHwmBytes = 64 * 1024; // bytes of them; what one read brings comes on top of both
    int sndBuf = 0;                      // of the machine, for each connection; 0: as it has it
    int rcvBuf = 0;
    int backlog = 1024;
    std::string routingId;        // how ROUTERs name this socket: at most 255 bytes
    bool routerMandatory = false; // sending to a peer that is not there fails with host_unreachable
    bool routerHandover = false;  // a new peer with a routing id that is in use replaces the old one
    bool immediate = false;       // messages wait only for peers that are connected
    bool conflate = false;        // only the last message is kept, in each direction; of one part
    double linger = 30;           // of close()
    double reconnectIvl = 0.1;    // doubled after each failure, and varied by half of it
    double reconnectIvlMax = 5;
    double handshakeIvl = 30;                   // within which a handshake must end
    double heartbeatIvl = 0;                    // between PINGs; 0: none
    double heartbeatTimeout = 0;                // silence after a PING that ends a connection; 0: heartbeatIvl
    double heartbeatTtl = 0;                    // after which the peer shall end it; 0: heartbeatTimeout
    bool plainServer = false;                   // asks for PLAIN
    std::string plainUsername, plainPassword;   // of a client
    bool curveServer = false;                   // asks for CURVE; with curveSecretKey
    std::string curveSecretKey, curvePublicKey; // one's own: 32 bytes, or 40 characters of Z85
    std::string curveServerKey;                 // of a client: the server's public key
    /// Of a server, for each peer: whether it may come in. It may wait. PLAIN needs one; without, CURVE and NULL let
    /// everybody in.
    std::function<Future<bool>(Credentials)> authenticator;
    ReadStrategy readStrategy = ReadStrategy::Adaptive;
    zmtp::Limits limits; // messageBytes is MAXMSGSIZE
};

/// What a socket has done so far.
struct MessageCounters {
    std::uint64_t received = 0;  // messages
    std::uint64_t sent = 0;      // messages that were accepted; PUB: each, however many it went to
    std::uint64_t dropped = 0;   // copies that a connection took with it, that a slow subscriber missed, or for nobody
    std::uint64_t discarded = 0; // received, and not what this type takes: replies nobody waits for, other topics
    std::uint64_t connected = 0; // handshakes that succeeded
    std::uint64_t disconnected = 0; // of these: ended
    std::uint64_t refused = 0;      // handshakes that failed, and peers that broke the protocol
    zmtp::Fault lastFault = zmtp::Fault::None;
    SocketCounters calls; // system calls of connections, as far as the transport counts
};

/// What happens to the connections of a socket.
struct MonitorEvent {
    enum class Kind : std::uint8_t {
        Listening,
        Accepted,
        Connected,
        ConnectRetried, // after a failure
        HandshakeSucceeded,
        HandshakeFailed,
        Disconnected,
    };
    Kind kind;
    zmtp::Fault fault; // why a handshake failed, or a peer was disconnected; None: the connection broke
    std::string endpoint;
};

class MessageSocket {
public:
    class State;

    /// Throws client_invalid_operation if the options contradict each other, or keys cannot be read.
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
    /// The next message, from the peers in turn: of each, what has come at once, then of the next. Names this socket,
    /// which must outlive it. Fails with client_invalid_operation for sockets that only send, and for a REQ that has no
    /// request under way.
    Receive receive() { return {state_.get()}; }

    struct Send {
        using Result = Void;
        State* state;
        void const* what; // the message, or the routing id
        char const* body; // null: a message
        std::uint32_t idBytes;
        std::uint32_t bodyBytes;
        bool isReady() const;
        void park(WaiterNode& waiter);
        Void take() const;
    };
    /// Names the message, which must stay until it is sent; then it is empty. Of a ROUTER it goes to the peer of its
    /// routing id, and is dropped if that is not there. Fails with client_invalid_operation for sockets that only
    /// receive, a REQ that waits for its reply, a REP that has nothing to reply to, and a message without parts.
    Send send(Message& message) { return {state_.get(), &message, nullptr, 0, 0}; }
    /// The same for one part, without a Message: the quickest. Names the bytes, which must stay until it is ready.
    Send sendBytes(std::string_view part) { return sendBytesTo({}, part); }
    Send sendBytesTo(std::string_view routingId, std::string_view part) {
        return {state_.get(), routingId.data(), part.data() ? part.data() : "",
                static_cast<std::uint32_t>(routingId.size()), static_cast<std::uint32_t>(part.size())};
    }
    /// The same for one that the future keeps; ready at once if there is room. Dropping the future before that drops
    /// the message.
    [[nodiscard]] Future<Void> send(Message&& message);
    [[nodiscard]] Future<Void> send(std::string_view part) { return send(Message(part)); }
    /// False, and the message is left as it was, where send() would wait.
    bool trySend(Message& message);

    /// Ready when all that waits has been given to the machine, or after so many seconds; then this is closed.
    [[nodiscard]] Future<Void> close(double linger);
    [[nodiscard]] Future<Void> close();

    /// From here on, what happens to the connections. The last call's stream gets it.
    FutureStream<MonitorEvent> monitor();
    MessageCounters counters() const;
    /// Peers that have shaken hands.
    std::size_t peers() const;

private:
    std::unique_ptr<State> state_;
};

} // namespace flow::net
