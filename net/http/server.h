#pragma once
// serve() is a whole HTTP server: it accepts connections, calls a handler for each request, and shuts down gracefully.
//
//     Future<Response> answer(Request request) {
//         co_return Response{.headers = {{"Content-Type", "text/plain"}}, .body = "hello\n"};
//     }
//
//     Reference<Listener> listener = transport().listen(8080);
//     co_await http::serve(listener, answer, {}, success(keep(signals({SIGTERM, SIGINT}))));
//
// The handler is called when the head of a request has come; it can read the body while the body arrives. The head of
// the response is sent when the handler returns; a streamed body follows piece by piece. An HTTP/1.1 connection handles
// one request at a time. If the client closes the connection while the handler runs and has no body left to read, the
// handler's future is dropped, which cancels it.
//
// If a handler throws or its future fails, the answer is 500, and the error is reported as dropped. Errors that the
// client has caused are not reported: value_too_large of Body::text(), or a body above the limit, gives 413; a wrong
// body gives 400, and a slow body gives 408. The connection is reset if an error comes after the head was sent, or if a
// stream has more or fewer bytes than its size says.
//
// The library itself answers 400, 408, 413, 417, 431, 501 and 505 to requests that break the rules
// (net/http/detail/head.h) or the limits, and then closes the connection. It adds Date, Content-Length or
// Transfer-Encoding, and Connection to each response. If a handler sets a Transfer-Encoding, or a Content-Length that
// is repeated or not the length of the body, the client gets 500, and the connection ends.
//
// The end. When `stop` is ready, the server accepts the connections that already wait, and closes the listener.
// Connections that have been idle for more than a second close. Other idle connections get one more second, for a
// request that is on its way. Running handlers go on, with `ending` set, and each answer says "Connection: close".
// After `grace` seconds the server cancels the handlers that still run, and resets their connections. serve() fails
// with the error of `stop` or of accept(). Dropping its future resets all connections.

#include "flow/base/seconds.h"
#include "flow/sync/event.h"
#include "flow/trace/tracer.h"
#include "net/http/message.h"
#include "net/listener.h"

#include <functional>

namespace flow::net::http {

using Handler = std::function<Future<Response>(Request)>;
/// A handler with an event that is set when the server begins to end. A long handler, such as one that streams events,
/// should end then. The pointer is valid as long as serve() runs.
using HandlerToTheEnd = std::function<Future<Response>(Request, Event* ending)>;

struct Exchange {
    std::string_view method = {}, target = {};
    std::string_view route = {}; // the pattern of a Router; "" without one
    Version version = Version::Http11;
    int status = 0; // 0: the connection has ended before the response
    Address const* peer = nullptr;
    double seconds = 0;
    std::uint64_t received = 0, sent = 0; // bytes of the bodies
    RequestContext context = {};          // with the span of the request, if there is a tracer
};

struct ServerCounters {
    std::uint64_t connections = 0; // accepted
    std::uint64_t requests = 0;    // given to the handler
    std::uint64_t refused = 0;     // answered by the library
    std::uint64_t open = 0;        // connections now
    std::uint64_t inFlight = 0;    // requests now
};

/// serve() fails with invalid_option_value if a number is not more than 0.
struct ServerOptions {
    std::uint32_t headerBytes = 16384; // most bytes of the first line and the fields (else 431), and of trailers
    std::uint32_t headerCount = 100;   // most fields: else 431
    std::uint64_t bodyBytes = 1 << 20; // most bytes of a request's body: else 413
    Seconds idle = 60;                 // between two requests of a connection
    Seconds headerTime = 10;           // from the first byte of a head to its last: else 408
    Seconds bodyTime = 30;             // for each 64 KiB of a body that the handler reads, or the rest: else 408
    Seconds writeTime = 30;            // until the client has taken each 64 KiB; else its connection is reset
    std::uint32_t requestsPerConnection = 10000; // the answer to the last one says "Connection: close"
    std::uint32_t connections = 10000;           // further ones wait to be accepted
    std::uint32_t concurrentRequests = 1000;     // in handlers; further ones wait
    Seconds grace = 10;                          // from `stop` to the end: see above

    /// Called after each exchange. It must not throw.
    std::function<void(Exchange const&)> onEnd = {};
    /// Receives the counts, unless it is null. It must live as long as serve() runs.
    ServerCounters* counters = nullptr;
    /// Begins a span for each request, as a child of the span that the client names in "traceparent". It must live as
    /// long as serve() runs.
    trace::Tracer* tracer = nullptr;
};

Future<Void> serve(Reference<Listener> listener, Handler handler, ServerOptions options, Future<Void> stop);
Future<Void> serve(Reference<Listener> listener, HandlerToTheEnd handler, ServerOptions options, Future<Void> stop);

} // namespace flow::net::http
