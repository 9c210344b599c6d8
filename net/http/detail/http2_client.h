#pragma once
// Http2Client: a connection of a client to an HTTP/2 server, for many requests at a time.
//
//     Reference<Http2Client> client = Http2Client::over(connection, {.scheme = "https"});   // ALPN has chosen "h2"
//     auto [a, b] = co_await all(client->send(first), client->send(second));
//
// send() gives the response when its head has come; the body is read from it. A server allows a number of streams at a
// time (often 100): requests beyond it wait. The field "Host" of a request becomes its ":authority". Dropping the
// future, or the response's body before its end, resets the stream, and nothing else. The connection ends when the
// client and the bodies of all responses are gone. send() fails with
//     retry                                    the server has not processed the request: send it on another connection
//     connection_reset, connection_cut_off     the stream or the connection has ended
//     timed_out                                the server does not read, or sends a body too slowly
//     unsupported_operation                    the library was built without nghttp2

#include "net/http/detail/http2_session.h"

namespace flow::net::http::detail {

class Http2Client : public ReferenceCounted<Http2Client> {
public:
    struct Options {
        std::string scheme = "http";
        double bodyTime = 60; // seconds in which some bytes of a body must come
        Http2Limits limits = {};
    };

    /// Throws unsupported_operation without nghttp2.
    static Reference<Http2Client> over(Reference<Connection> connection, Options options);
    virtual ~Http2Client() = default;

    virtual Future<Response> send(Request request) = 0;
    /// True if the connection takes further requests: it has not failed, and the server has not announced its end.
    virtual bool isOpen() const = 0;
    /// The number of requests that have not ended: some of the request or of its answer is still to come.
    virtual std::size_t streams() const = 0;
    /// The number of streams that the server allows at a time.
    virtual std::size_t mostStreams() const = 0;
    /// Takes no further requests; the connection ends after the present ones.
    virtual void close() = 0;
};

} // namespace flow::net::http::detail
