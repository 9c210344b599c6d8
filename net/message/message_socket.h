#pragma once
// MessageSocket: sends whole messages between any number of peers, with ZeroMQ's socket types: ROUTER, DEALER, REQ,
// REP, PUB, SUB, XPUB, XSUB, PUSH, PULL, PAIR. It uses ZMTP 3.1 and 3.0, so peers may be programs with libzmq. It works
// on TCP and Unix sockets, real and simulated; over TLS (net/tls/message_tls.h); and with inproc:// between sockets of
// one loop.
//
//     MessageSocket router(SocketType::Router);
//     router.bind("tcp://127.0.0.1:5555");
//     for (;;) {
//         Message request = co_await router.receive();     // request.routingId(): the sender
//         router.trySend(request);                         // back to that peer; false if it does not read
//     }
//
//     MessageSocket updates(SocketType::Sub);
//     updates.subscribe("weather.");
//     updates.connect("tcp://127.0.0.1:5556");             // now or later, and again after a disconnect
//
// receive() and send(message) are operations in place (flow/core/in_place.h). An operation that loses a race has
// received nothing, or has sent nothing and left its message unchanged. Below the high-water mark send() does not wait.
// The bytes are written when control returns to the loop, or when 64 KiB wait.
//
// No accepted message is lost while its connection is open. If the program does not receive, the socket stops reading:
// memory stays bounded, and the senders wait. net/docs/messages.md says which messages each type loses when a
// connection breaks. counters() counts lost messages.
//
// A socket belongs to one loop. The destructor writes what the kernel takes, and closes the socket. close() first sends
// all waiting messages. An operation that has lost a race with close() must not be used again.

#include "flow/base/seconds.h"
#include "flow/core/stream.h"
#include "flow/wait/source.h"
#include "net/message/message.h"
#include "net/transport.h"

#include <functional>
#include <memory>

namespace flow::net {

enum class SocketType : std::uint8_t { Pair, Pub, Sub, Req, Rep, Dealer, Router, Pull, Push, XPub, XSub };

struct Credentials {
    std::string mechanism; // NULL, PLAIN or CURVE
    std::string user;      // PLAIN: the name; CURVE: the public key, as Z85
    std::string password;  // PLAIN
    std::string address;
};

/// The names are those of ZeroMQ's socket options. A high-water mark of 0 means no limit.
struct MessageOptions {
    std::size_t sndHwm = 1000;                      // messages that wait for each peer
    std::size_t sndHwmBytes = std::size_t{4} << 20; // bytes that wait for each peer; one message may exceed the mark
    std::size_t rcvHwm = 1000;                      // unread messages of each peer
    std::size_t rcvHwmBytes = 64 * 1024;            // the bytes of unread messages; one read may exceed both marks
    int sndBuf = 0;                                 // the kernel's buffers of each connection, in bytes; 0: the default
    int rcvBuf = 0;
    int backlog = 1024;
    std::string routingId;                      // the name of this socket at ROUTERs: at most 255 bytes
    bool routerMandatory = false;               // sending to an unknown peer fails with host_unreachable
    bool routerHandover = false;                // a new peer with a routing id that is in use replaces the old one
    bool immediate = false;                     // messages wait only for peers that are connected
    bool conflate = false;                      // each direction keeps only the last message; use one part only
    Seconds linger = 30;                        // the longest wait of close()
    Seconds reconnectIvl = 0.1;                 // the pause before connecting again; each failure doubles the pause
    Seconds reconnectIvlMax = 5;                // the longest pause; a random factor of 0.5 to 1.5 is applied last
    Seconds handshakeIvl = 30;                  // the longest time of a handshake; 0: no limit
    Seconds heartbeatIvl = 0;                   // the time between PINGs, at most half of heartbeatTtl; 0: no PINGs
    Seconds heartbeatTimeout = 0;               // the longest silence of a peer after a PING; 0: heartbeatIvl
    Seconds heartbeatTtl = 0;                   // the peer should disconnect after this silence; 0: the sum of both
    bool plainServer = false;                   // this socket is a server, and requires PLAIN
    std::string plainUsername, plainPassword;   // at a client: its name and password
    bool curveServer = false;                   // this socket is a server, and requires CURVE; needs curveSecretKey
    std::string curveSecretKey, curvePublicKey; // the keys of this side: 32 bytes, or 40 characters of Z85
    std::string curveServerKey;                 // at a client: the public key of the server
    /// Decides at a server if a peer may connect. If its future fails, the peer is refused. PLAIN requires an
    /// authenticator; without one, CURVE and NULL accept all peers.
    std::function<Future<bool>(Credentials)> authenticator;
    /// Set by setTls() of net/tls/message_tls.h, for "tls://" endpoints. `name` is the server's name. The listener
    /// calls `failed` for each failed TLS handshake.
    std::function<Future<Reference<Connection>>(Reference<Connection>, std::string name)> encryptConnection;
    std::function<Reference<Listener>(Reference<Listener>, std::function<void(Address const&)> failed)> encryptListener;
    ReadStrategy readStrategy = ReadStrategy::Adaptive;
    zmtp::Limits limits; // messageBytes is ZeroMQ's MAXMSGSIZE
};

struct MessageCounters {
    std::uint64_t received = 0; // messages
    std::uint64_t sent = 0;     // accepted messages; at a PUB once each, for any number of subscribers
    std::uint64_t dropped = 0;  // copies that were lost: with a connection, by close(), at a slow subscriber, without a
                                // receiver, or replaced by a newer message (`conflate`)
    std::uint64_t discarded = 0;    // received messages that the type cannot use: unexpected replies, other topics
    std::uint64_t lostReplies = 0;  // REQ: connections that ended after the request and before the reply
    std::uint64_t connected = 0;    // successful handshakes
    std::uint64_t disconnected = 0; // connections with a successful handshake that have ended
    std::uint64_t refused = 0;      // failed handshakes, and peers that violated the protocol
    zmtp::Fault lastFault = zmtp::Fault::None;
    SocketCounters calls; // system calls, if the transport counts them
};

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
    zmtp::Fault fault; // the reason of HandshakeFailed or Disconnected; None: the connection broke
    std::string endpoint;
};

class MessageSocket {
public:
    class State;

    /// Throws invalid_option_value if options contradict each other, a time is negative, or a key cannot be read.
    explicit MessageSocket(SocketType type, MessageOptions options = {});
    MessageSocket(MessageSocket const&) = delete;
    MessageSocket& operator=(MessageSocket const&) = delete;
    ~MessageSocket();

    /// Binds to an endpoint (net/message/message_endpoint.h), and returns it with its port. Throws
    /// connection_string_invalid, invalid_option_value for "tls://" without TLS, and the errors of Transport::listen().
    std::string bind(std::string_view endpoint);
    /// Connects now or later; resolves a host name at each attempt. As with libzmq, a second call with the same
    /// endpoint does nothing at a SUB, PUB, DEALER or REQ. At other types, and with inproc://, it makes a second
    /// connection. Throws connection_string_invalid, and invalid_option_value for "tls://" without TLS.
    void connect(std::string_view endpoint);

    /// Makes a SUB or XSUB receive messages that begin with `topic`. Each call needs its own unsubscribe().
    void subscribe(std::string_view topic);
    void unsubscribe(std::string_view topic);

    struct Receive {
        using Result = Message;
        State* state;
        bool isReady() const;
        void park(WaiterNode& waiter);
        Message take() const;
        void describe(Description& out) const;
    };
    /// Receives a message. Several calls first get all available messages of one peer, then all of the next peer.
    /// The socket must outlive the operation. Fails with client_invalid_operation at types that only send, and at a REQ
    /// that waits for no reply.
    Receive receive() { return {state_.get()}; }

    struct Send {
        using Result = Void;
        State* state;
        void const* what; // the message, or the routing id
        char const* body; // null: `what` is a message
        std::uint32_t idBytes;
        std::uint32_t bodyBytes;
        bool isReady() const;
        void park(WaiterNode& waiter);
        Void take() const;
        void describe(Description& out) const;
    };
    /// Sends `message`, which must stay valid until the operation is ready, and is empty afterwards. A ROUTER drops the
    /// message if no peer has its routing id. If that peer does not read, the operation waits: use trySend() if one
    /// peer must not stop the others. A REP drops an answer above the high-water mark instead. Fails with
    /// client_invalid_operation at types that only receive, at a REQ that waits for its reply, at a REP without a
    /// request, and for a message without parts.
    Send send(Message& message) { return {state_.get(), &message, nullptr, 0, 0}; }
    /// Sends a message of one part, faster than send(message). `part` must stay valid until the operation is ready.
    Send sendBytes(std::string_view part) { return sendBytesTo({}, part); }
    Send sendBytesTo(std::string_view routingId, std::string_view part) {
        // If the part has more than kLargest bytes, this size makes the operation fail with value_too_large.
        std::size_t bytes = part.size() <= Message::kLargest ? part.size() : Message::kLargest + 1;
        return {state_.get(), routingId.data(), part.data() ? part.data() : "",
                static_cast<std::uint32_t>(routingId.size()), static_cast<std::uint32_t>(bytes)};
    }
    /// Sends a message that the future owns. If there is room, the future is ready at once, or in a later turn if this
    /// turn has used up its budget. Dropping the future before it is ready drops the message.
    [[nodiscard]] Future<Void> send(Message&& message);
    [[nodiscard]] Future<Void> send(std::string_view part) { return send(Message(part)); }
    /// Sends `message` if send() would not wait. Otherwise returns false and leaves it unchanged.
    bool trySend(Message& message);

    /// Sends the waiting messages, for at most `linger` seconds, and then closes the socket.
    [[nodiscard]] Future<Void> close(Seconds linger);
    [[nodiscard]] Future<Void> close();

    /// Returns a stream of later events. Only the stream of the last call gets events.
    FutureStream<MonitorEvent> monitor();
    MessageCounters counters() const;
    /// Returns the number of peers that have finished their handshake.
    std::size_t peers() const;

private:
    std::unique_ptr<State> state_;
};

} // namespace flow::net
