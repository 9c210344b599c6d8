#pragma once
// WebSocket (RFC 6455): messages in both directions over one connection, from a server or to one.
//
//     Future<Void> echo(Reference<WebSocket> socket) {
//         for (;;) {
//             WebSocketMessage message = co_await socket->receive();   // fails with end_of_stream after a close
//             co_await socket->send(message);                          // waits until there is room for more
//         }
//     }
//
//     Future<Response> handle(Request request) {                       // a handler of http::serve()
//         co_return acceptWebSocket(request, echo);
//     }
//
//     Reference<WebSocket> socket = co_await connectWebSocket(client, "ws://example.org/chat");   // an http::Client
//     co_await socket->sendText("hello");
//     co_await socket->close();                                        // waits until the connection has ended
//
// There are no extensions, so messages are not compressed. A server that uses cookies must check the Origin of a
// request: a page of any site can open a WebSocket, and the browser sends the user's cookies.
//
// Receiving. receive() returns whole messages, however many fragments they had. The socket reads ahead, and answers
// pings and a Close by itself. It stops reading when it holds two messages, each of up to `largestMessage` bytes, that
// receive() has not taken. receive() is an operation in place: if it loses a race or is cancelled, no message is lost.
// Several may wait; the oldest is served first.
//
// Sending. The functions copy the message before they return. The whole message is sent, even if the returned operation
// is dropped. Like Connection::write(), the operation is ready when there is room for more. Any number of tasks may
// send at a time. sendText() fails with client_invalid_operation if the text is not UTF-8. After the end each send
// fails with operation_obsolete.
//
// The end. receive() returns the messages that came before the end, and then fails with the same error in each call:
//     end_of_stream            one side has closed: closeCode() and closeReason() return what the first Close has
//     connection_cut_off       the connection has ended without a Close; also connection_reset and others
//     connection_timed_out     the other side sent nothing after a ping, or did not answer a Close in time
//     value_too_large          a message above `largestMessage`; the other side gets the code 1009
//     serialization_failed     the RFC forbids these bytes: see what(). The other side gets 1002, or
//                              1007 if a text was not UTF-8
//
// When the last Reference goes without a close(), the other side gets the code 1001 and the connection ends. A
// WebSocket must outlive its operations, and belongs to the loop of its connection.

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
    Seconds pingEvery = 30;               // a ping is sent after this time without bytes; 0: no pings
    Seconds pongWithin = 20;              // the connection ends if nothing comes in this time after a ping; more than 0
    Seconds closeWithin = 5;              // the time for the other side to answer a Close; more than 0
    /// Subprotocols, the best first. A client offers them. A server chooses its first one that the client offers.
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

    /// Uses a connection on which the handshake has been made.
    WebSocket(Reference<Connection> connection, Side side, WebSocketOptions options = {}, std::string protocol = "");
    WebSocket(WebSocket const&) = delete;
    ~WebSocket();

    Receive receive() { return {messages_.receive(), this}; }
    Drain sendText(std::string_view text) { return send(text, true); }
    Drain sendBinary(std::string_view bytes) { return send(bytes, false); }
    Drain send(WebSocketMessage const& message) { return send(message.data, message.isText); }

    /// Sends a Close, and returns an operation that is ready when the connection has ended: after the other side's
    /// Close, or after `closeWithin`. Later messages are dropped, and receive() fails with end_of_stream. Only the
    /// first call counts. `code`: 1000 to 1003, 1007 to 1014, or 3000 to 4999. `reason`: UTF-8, at most 123 bytes.
    Event::Wait close(int code = 1000, std::string_view reason = "",
                      std::source_location caller = std::source_location::current());
    /// Returns an operation that is ready when the connection has ended.
    Event::Wait closed() { return ended_.wait(); }

    /// Returns the code of the first Close, and 0 before it. 1005: the other side has sent no code. 1006: the
    /// connection has ended without a Close.
    int closeCode() const { return closeCode_; }
    std::string const& closeReason() const { return closeReason_; }
    /// Returns the subprotocol that both sides have chosen, or "".
    std::string const& protocol() const { return protocol_; }
    /// Returns the error with which receive() fails after the end; an invalid Error before the end.
    Error failure() const { return end_; }
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
    Error end_; // the error of receive() after the end
    Event closing_;
    Event ended_;
    std::uint64_t heard_ = 0; // grows when bytes come or a message is taken
    int closeCode_ = 0;
    Side side_;
    bool hasClose_ = false; // the other side's Close has come
    bool isFull_ = false;   // the socket does not read until receive() takes a message
    std::string closeReason_;
    Future<Void> running_;
};

/// Serves one WebSocket. If it returns, or fails with end_of_stream, the socket is closed with 1000; after another
/// error, with 1011; after a cancel, with 1001.
using WebSocketHandler = std::function<Future<Void>(Reference<WebSocket>)>;

/// Returns the response that accepts a WebSocket: the server calls `handler` after it has sent it. If the request does
/// not ask for a WebSocket, returns the response 400 or 426. When the server begins to end, the socket is closed with
/// 1001, and receive() fails with end_of_stream. Then the handler must return within ServerOptions::grace.
Response acceptWebSocket(Request const& request, WebSocketHandler handler, WebSocketOptions options = {});

/// Makes the handshake as a client on a new connection. `host` is the server's name, and ":port" if it is not 80 or
/// 443. `headers` are further fields of the request, such as Cookie. Fails with operation_failed if the status of the
/// answer is not 101, and with serialization_failed if the answer breaks the rules. Cancel-safe: the future, and later
/// the WebSocket, owns the connection.
Future<Reference<WebSocket>> connectWebSocket(Reference<Connection> connection, std::string host,
                                              std::string target = "/", WebSocketOptions options = {},
                                              Headers headers = {});
/// Makes a connection with Client::connect(), and the handshake on it. The URL begins with "ws://" or "wss://"
/// (encrypted), or with "http://" or "https://". Of the client's options, only those for making a connection count.
Future<Reference<WebSocket>> connectWebSocket(Client& client, std::string url, WebSocketOptions options = {},
                                              Headers headers = {});

} // namespace flow::net::http
