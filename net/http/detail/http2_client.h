#pragma once
// Http2Client: a connection of a client to an HTTP/2 server, for many requests at a time.
//
//     Reference<Http2Client> client = Http2Client::over(connection, {.scheme = "https"});   // ALPN has chosen "h2"
//     auto [a, b] = co_await all(client->send(first), client->send(second));
//
// send() returns the response when its head has come. If the server has as many streams as it allows (often 100),
// further requests wait. The field "Host" becomes ":authority". Dropping the future, or the response's body before its
// end, resets only the stream. The connection ends when the client and the bodies of all responses are destroyed.
// send() fails with
//     retry                                    the server has not processed the request: use another connection
//     connection_reset, connection_cut_off     the stream or the connection has ended
//     timed_out                                the server does not read, or sends a body too slowly

#include "net/http/detail/http2_session.h"

namespace flow::net::http::detail {

class Http2Client : public ReferenceCounted<Http2Client> {
public:
    struct Options {
        std::string scheme = "http";
        double bodyTime = 60; // the longest time in seconds without bytes of a body
        Http2Limits limits = {};
    };

    /// Makes the client. Throws unsupported_operation if this build has no nghttp2.
    static Reference<Http2Client> over(Reference<Connection> connection, Options options);
    virtual ~Http2Client() = default;

    virtual Future<Response> send(Request request) = 0;
    /// True if new requests can be sent: the connection has not failed, and the server has sent no GOAWAY.
    virtual bool isOpen() const = 0;
    /// Returns the number of requests that are not completely sent and answered.
    virtual std::size_t streams() const = 0;
    /// Returns the number of streams that the server allows at a time.
    virtual std::size_t mostStreams() const = 0;
    /// Refuses new requests; the connection ends after the running ones.
    virtual void close() = 0;
};

} // namespace flow::net::http::detail
