#pragma once
// Client: sends requests to HTTP servers, over connections that it keeps.
//
//     http::Client client;
//     http::Response page = co_await client.get("http://example.org/jobs?open=1");
//     if (page.status == 200)
//         std::string text = co_await page.body.text(1 << 20);      // at most so many bytes; read() gives the pieces
//
//     http::Request request{.method = "PUT", .headers = {{"Authorization", token}}, .body = Body::stream(next)};
//     http::Response done = co_await client.send(std::move(request), "http://example.org/jobs/7");
//
//     http::Client secure({.encrypt = http::tlsConnector()});        // https: net/http/client_tls.h
//
// A future is ready when the head of the answer has come. The rest comes with the body, which holds the connection
// until it was read to its end or is dropped; a body that is dropped earlier resets the connection. Dropping a future
// at any time ends the request. A request may still be sending its body when its answer comes, so both can be streams.
// Each status is an answer, not an error.
//
// With ALPN a server chooses HTTP/2 or HTTP/1.1. Requests share a connection of HTTP/2; there firstByteTimeout counts
// from the request, and does not hold while its body is a stream.
//
// Connections. Each origin (scheme, host and port) has a Pool: at most `connections` at a time, and further requests
// wait in order. If a kept connection ends before anything of the answer has come, the request is sent once more, on a
// new connection, if its method is idempotent (GET, HEAD, OPTIONS, TRACE, PUT, DELETE) or it has an Idempotency-Key,
// and its body is in memory. If a server of HTTP/2 says that it has not processed the request, the request is sent
// again, up to 7 times with pauses, whatever its method; then the error is connection_failed. Nothing else is sent
// twice: for more see retry().
//
// Redirects are followed: 301, 302, 303, 307 and 308 with a Location. After 303, and a POST after 301 and 302, the next
// request is a GET without a body. If the request has a streamed body, 307 and 308 are not followed, since the body
// cannot be sent again: the redirect is the answer. On the way to another origin Authorization, Cookie,
// Proxy-Authorization and Host are dropped. Response::url says which URL has answered.
//
// Cookies and compression are left to programs. With a proxy each connection is a tunnel that CONNECT opens.
//
// Errors have a sentence with the method, the URL without its query, and the reason: "GET http://example.org/jobs: no
// program listens at the address". isConnectionError() is true for those of the connection.
//     connection_string_invalid, invalid_option_value    the URL, or a method or field that cannot be sent
//     those of net::connect() and Encrypt                no connection could be made
//     connection_timed_out      after connectTimeout, or if the server takes nothing of a body for idleTimeout
//     timed_out                 after another time of the options
//     connection_cut_off, connection_reset               the connection ended before the answer
//     serialization_failed      the answer is not HTTP
//     value_too_large           the answer has a larger head, or body, than the options allow
//     operation_failed          there were too many redirects, the proxy has refused, or too many requests wait
//     operation_obsolete        the Client is closed
//
// A Client belongs to one thread. Its destructor closes it: requests that have a connection go on.

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
/// Encrypts a connection to `host`, which must prove that it has this name. ALPN offers "h2" only if `mayBeHttp2`.
using Encrypt = std::function<Future<Encrypted>(Reference<Connection> carrier, std::string host, bool mayBeHttp2)>;

struct ClientOptions {
    // Times: more than 0; infinity means no limit.
    Seconds connectTimeout = 10;   // for a new connection: the name, TCP, the proxy's tunnel and TLS
    Seconds firstByteTimeout = 60; // from the end of the request to the head of the answer
    Seconds idleTimeout = 60;      // in which no byte of a body could be sent or received
    Seconds timeout = 300;         // for all of it, from the call to the end of the answer's body
    // For each origin:
    std::size_t connections = 8; // at a time, in use and kept
    std::size_t waiters = 1024;  // requests that may wait for a connection
    Seconds keep = 30;           // after which an unused connection is closed
    // For each answer:
    std::size_t headBytes = 65536, headFields = 200;
    std::uint64_t bodyBytes = std::numeric_limits<std::uint64_t>::max();
    std::size_t redirects = 10; // that are followed; 0: each redirect is an answer

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
    /// Sends the request's method, headers and body to the URL, which has the target. A Host field of the request is
    /// sent instead of the URL's host.
    Future<Response> send(Request request, std::string url);

    /// Makes a connection to the URL's host for another protocol, such as WebSocket: through the proxy, encrypted for
    /// https, within connectTimeout. The pools do not count it.
    Future<Reference<Connection>> connect(std::string url);

    /// Closes the connections that are kept, and fails the requests that wait for one.
    void close() noexcept;
    /// Returns the number of connections that are kept.
    std::size_t idle() const;

private:
    struct State;
    std::shared_ptr<State> state_;
};

} // namespace flow::net::http
