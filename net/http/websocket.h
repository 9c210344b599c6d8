#pragma once
// WebSocket (RFC 6455): messages in both directions over one connection, from a server or to one.
//
//     Future<Void> echo(Reference<WebSocket> socket) {
//         for (;;) {
//             WebSocketMessage message = co_await socket->receive();   // fails with end_of_stream after a close
//             co_await socket->send(message);                          // until there is room for more
//         }
//     }
//
//     Future<Response> handle(Request request) {                       // a handler of http::serve()
//         co_return acceptWebSocket(request, echo);
//     }
//
//     Reference<WebSocket> socket = co_await connectWebSocket(client, "ws://example.org/chat");   // an http::Client
//     co_await socket->sendText("hello");
//     co_await socket->close();                                        // both sides have said goodbye
//
// There are no extensions, so messages are not compressed. A program that sets a cookie must compare the Origin of a
// request with its own name before it accepts a WebSocket: browsers let the page of any site open one, with the cookie.
//
// Receiving. A message comes as a whole, of any number of fragments. The socket reads ahead: it holds at most two
// messages of `largestMessage` bytes that receive() has not taken, and then reads no more. Pings are answered by
// itself, and so is a close, as far as it reads. receive() is an operation in place: one that loses a race, or is
// cancelled, has taken nothing. Several may wait; the oldest is served first.
//
// Sending. The functions take the message before they return. It is sent as a whole, also if the returned operation is
// dropped, so no cancel leaves half of a message. The operation is ready when there is room for more, as the one of
// Connection::write() is. Any number of tasks may send at a time. A text that is not UTF-8 fails with
// client_invalid_operation, and after the end each send fails with operation_obsolete.
//
// The end. receive() gives the messages that came before, and then the same error in each call:
//     end_of_stream            one side has closed it: closeCode() and closeReason() are those of the first Close
//     connection_cut_off       the connection has ended without a close; also connection_reset and others
//     connection_timed_out     the other side sent nothing after a ping, or did not answer a close in time
//     value_too_large          a message above `largestMessage`; the other side gets the code 1009
//     serialization_failed     bytes that the RFC forbids: what() says which. The other side gets 1002, or
//                              1007 if a text was not UTF-8
//
// When the last Reference goes without a close, the other side gets the code 1001 and the connection ends. A WebSocket
// must outlive its operations, and belongs to the loop of its connection.

#include "flow/base/seconds.h"
#include "flow/coro/coroutine.h"
#include "flow/sync/channel.h"
#include "flow/sync/event.h"
#include "net/http/message.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace flow::net::http {

class Client;

struct WebSocketOptions {
    std::size_t largestMessage = 1 << 20; // bytes; at least 1
    Seconds pingEvery = 30;               // a ping is sent when nothing has come for so long; 0: no pings
    Seconds pongWithin = 20;              // the connection ends if nothing comes for so long after a ping; more than 0
    Seconds closeWithin = 5;              // the time that the other side has to answer a close; more than 0
    /// The names of subprotocols, the best first. A client offers them. A server takes the first one that it has of
    /// those that the client offers.
    std::vector<std::string> protocols = {};
};

struct WebSocketMessage {
    std::string data;
    bool isText = true; // UTF-8; otherwise any bytes
};

class WebSocket : public ReferenceCounted<WebSocket> {
public:
    enum class Side : std::uint8_t { Client, Server };

    struct Receive {
        using Result = WebSocketMessage;
        Channel<WebSocketMessage>::Receive next;
        WebSocket* socket;

        bool isReady() const { return next.isReady(); }
        void park(WaiterNode& waiter) { next.park(waiter); }
        WebSocketMessage take() { return socket->take(next); }
    };

    /// Takes over a connection on which other code has made the handshake.
    WebSocket(Reference<Connection> connection, Side side, WebSocketOptions options = {}, std::string protocol = "");
    WebSocket(WebSocket const&) = delete;
    ~WebSocket();

    Receive receive() { return {messages_.receive(), this}; }
    Drain sendText(std::string_view text) { return send(text, true); }
    Drain sendBinary(std::string_view bytes) { return send(bytes, false); }
    Drain send(WebSocketMessage const& message) { return send(message.data, message.isText); }

    /// Sends a Close, and returns an operation that is ready when the connection has ended: after the other side's
    /// Close, or after `closeWithin`. Later messages are dropped, and receive() gives end_of_stream. The first call
    /// counts. `code` is 1000 to 1003, 1007 to 1014, or 3000 to 4999, and `reason` is UTF-8 of at most 123 bytes.
    Event::Wait close(int code = 1000, std::string_view reason = "",
                      std::source_location caller = std::source_location::current());
    /// Returns an operation that is ready when the connection has ended.
    Event::Wait closed() { return ended_.wait(); }

    /// Returns the code of the end, and 0 before it. 1005: the other side has closed without a code. 1006: the
    /// connection has ended without a close.
    int closeCode() const { return closeCode_; }
    std::string const& closeReason() const { return closeReason_; }
    /// Returns the subprotocol that both sides have chosen, or "".
    std::string const& protocol() const { return protocol_; }
    /// Returns the error of receive() at the end; an invalid Error before it.
    Error failure() const { return end_; }
    /// Returns the number of bytes that wait to be sent.
    std::size_t queuedBytes() const { return connection_->queuedBytes(); }
    Address peerAddress() const { return connection_->peerAddress(); }

private:
    Drain send(std::string_view payload, bool isText);
    WebSocketMessage take(Channel<WebSocketMessage>::Receive& next);
    void sendClose(int code, std::string_view reason);
    void endReceiving(Error error);
    [[noreturn]] void refuse(int code, Error error, char const* what);
    void takeClose(std::string_view payload);
    Future<Void> readMessages(Propagate = {});
    Future<Void> sendPings(Propagate = {});
    Future<Void> closeLimit(Propagate = {});
    Future<Void> run(Propagate = {});

    Reference<Connection> connection_;
    WebSocketOptions options_;
    std::string protocol_;
    Channel<WebSocketMessage> messages_{1};
    Error end_;               // the error of receive() at the end
    Event closing_;           // set when this side has sent a Close
    Event ended_;             // set when the connection has ended
    std::uint64_t heard_ = 0; // grows whenever bytes have come
    int closeCode_ = 0;
    Side side_;
    bool hasClose_ = false; // the other side's Close has come
    bool isFull_ = false;   // the messages that receive() has not taken keep the socket from reading
    std::string closeReason_;
    Future<Void> running_;
};

/// Serves one WebSocket. When it returns or fails with end_of_stream, the socket is closed with 1000; after another
/// error, with 1011. When it is cancelled, the other side gets 1001.
using WebSocketHandler = std::function<Future<Void>(Reference<WebSocket>)>;

/// Returns the response to a request for a WebSocket, which makes the server call `handler`; or the response 400 or 426
/// if the request is none. When the server begins to end, it closes the socket with 1001, and receive() gives
/// end_of_stream; the handler has the time of ServerOptions::grace to return.
Response acceptWebSocket(Request const& request, WebSocketHandler handler, WebSocketOptions options = {});

/// Asks the server at the other side of a new connection for a WebSocket. `host` is the server's name, and ":port" if
/// it is not 80 or 443. `headers` are further fields of the request, such as Cookie. Fails with operation_failed and a
/// sentence if the server answers with another status than 101, and with serialization_failed and a sentence if its
/// answer breaks the rules. Cancel-safe: the connection ends with the future, or with the WebSocket.
Future<Reference<WebSocket>> connectWebSocket(Reference<Connection> connection, std::string host,
                                              std::string target = "/", WebSocketOptions options = {},
                                              Headers headers = {});
/// The same over a new connection of the client: through its proxy, within its connectTimeout and encrypted for "wss".
/// The URL begins with "ws://" or "wss://", or with "http://" or "https://". Other settings of the client do not count.
Future<Reference<WebSocket>> connectWebSocket(Client& client, std::string url, WebSocketOptions options = {},
                                              Headers headers = {});

} // namespace flow::net::http
