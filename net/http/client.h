#pragma once
// Client: sends requests to HTTP servers, over a pool of connections for each server.
//
//     http::Client client;
//     http::Response page = co_await client.get("http://example.org/jobs?open=1");
//     if (page.status == 200)
//         std::string text = co_await page.body.text(1 << 20);      // at most 1 MiB; read() returns it in pieces
//
//     http::Request request{.method = "PUT", .headers = {{"Authorization", token}}, .body = Body::stream(next)};
//     http::Response done = co_await client.send(std::move(request), "http://example.org/jobs/7");
//
//     http::Client secure({.encrypt = http::tlsConnector()});        // https: net/http/client_tls.h
//
// The future of send() is ready when the head of the answer has come. Response::body reads the rest, and holds the
// connection until its end. A body that is dropped earlier resets the connection (in HTTP/2: the stream). Dropping the
// future ends the request. A server may answer before it has the whole request, so both bodies can be streams. An
// answer is not an error, whatever its status.
//
// A TLS server chooses HTTP/2 or HTTP/1.1 by ALPN. In HTTP/2, requests share a connection. firstByteTimeout begins with
// the request there, and does not apply to a request with a streamed body.
//
// Connections. Each origin (scheme, host and port) has a Pool of at most `connections`; further requests wait in order.
// Only a request with its body in memory is sent again. It is sent again once, on a new connection, if a reused
// connection ends before any byte of the answer and the request is idempotent (GET, HEAD, OPTIONS, TRACE, PUT, DELETE,
// or with an Idempotency-Key). It is sent again up to 7 times, with pauses, if an HTTP/2 server says that it has not
// processed the request; the error is then connection_failed. For all else see flow/combine/retry.h.
//
// Redirects: 301, 302, 303, 307 and 308 with a Location are followed. After 303, and after 301 or 302 to a POST, the
// next request is a GET without a body. A redirect that needs a streamed body again is returned as the answer. A
// redirect to another origin drops Authorization, Cookie, Proxy-Authorization and Host. Response::url is the last URL.
//
// If the `context` of a request has a span (flow/trace/span.h), the request gets a span of its own, which ends with the
// head of the answer, and the fields "traceparent" and "tracestate": `request.context = here;`.
//
// The client handles neither cookies nor compression. With a proxy, each connection is a tunnel opened by CONNECT.
//
// what() of an error has the method, the URL without its query, and the reason: "GET http://example.org/jobs: no
// program listens at the address". isConnectionError() is true for errors of the connection.
//     connection_string_invalid, invalid_option_value    the URL, or a method or field that cannot be sent
//     errors of net::connect() and Encrypt               no connection could be made
//     connection_timed_out      connectTimeout is over, or the server takes no bytes of the body for idleTimeout
//     timed_out                 another time limit of the options is over
//     connection_cut_off, connection_reset               the connection ended before the answer
//     serialization_failed      the answer is not HTTP
//     value_too_large           the answer has a larger head, or body, than the options allow
//     operation_failed          there were too many redirects, the proxy has refused, or too many requests wait
//     operation_obsolete        the Client is closed
//
// A Client belongs to one thread. Its destructor calls close(). Requests that have a connection go on.

#include "flow/base/seconds.h"
#include "net/http/message.h"
#include "net/http/url.h"

#include <limits>

namespace flow::net::http {

/// An encrypted connection, and the protocol that ALPN has chosen; "" without ALPN.
struct Encrypted {
    Reference<Connection> connection;
    std::string protocol;
};
/// Connects to a host, which may be the text of an IP address.
using Connect = std::function<Future<Reference<Connection>>(std::string host, std::uint16_t port)>;
/// Encrypts a connection to `host`, and checks its certificate. ALPN offers "h2" only if `mayBeHttp2`.
using Encrypt = std::function<Future<Encrypted>(Reference<Connection> carrier, std::string host, bool mayBeHttp2)>;

struct ClientOptions {
    // Times: more than 0; infinity means no limit.
    Seconds connectTimeout = 10;   // for a new connection: the name, TCP, the proxy's tunnel and TLS
    Seconds firstByteTimeout = 60; // from the end of the request to the head of the answer
    Seconds idleTimeout = 60;      // the longest time without progress of a body, in either direction
    Seconds timeout = 300;         // from the call of send() to the end of the answer's body
    // For each origin:
    std::size_t connections = 8; // in use and kept
    std::size_t waiters = 1024;  // requests that may wait for a connection
    Seconds keep = 30;           // an unused connection is closed after this time
    // For each answer:
    std::size_t headBytes = 65536, headFields = 200;
    std::uint64_t bodyBytes = std::numeric_limits<std::uint64_t>::max();
    std::size_t redirects = 10; // 0: a redirect is returned as the answer

    std::string userAgent = "millrace";  // for requests that have no User-Agent; "": none
    std::string proxy = {};              // "http://proxy.example:3128"; "": none
    std::string proxyAuthorization = {}; // "Basic dXNlcjpwYXNz"
    Connect connect = {};                // null: net::connect()
    Encrypt encrypt = {};                // null: https fails with unsupported_operation
    bool plainHttp2 = false;             // http:// servers speak HTTP/2 ("prior knowledge"); for https ALPN decides
};

class Client {
public:
    /// Throws invalid_option_value.
    explicit Client(ClientOptions options = {});
    Client(Client const&) = delete;
    Client& operator=(Client const&) = delete;
    ~Client();

    Future<Response> get(std::string url) { return send(Request(), std::move(url)); }
    Future<Response> post(std::string url, Body body, std::string type);
    /// Sends the request to `url`, which has the target. A Host field of the request replaces the host of `url`.
    Future<Response> send(Request request, std::string url);

    /// Makes a connection to the URL's host for another protocol, such as WebSocket: through the proxy, encrypted for
    /// https, within connectTimeout. The connection is in no pool.
    Future<Reference<Connection>> connect(std::string url);

    /// Closes the idle connections, and fails the requests that wait for a connection.
    void close() noexcept;
    std::size_t idle() const;

private:
    struct State;
    std::shared_ptr<State> state_;
};

} // namespace flow::net::http
