#pragma once
// serve() is a whole HTTP server: it accepts connections, calls a handler for each request, and ends in order.
//
//     Future<Response> answer(Request request) {
//         co_return Response{.headers = {{"Content-Type", "text/plain"}}, .body = "hello\n"};
//     }
//
//     Reference<Listener> listener = transport().listen(8080);
//     co_await http::serve(listener, answer, {}, success(keep(signals({SIGTERM, SIGINT}))));
//
// The handler gets a request as soon as its head is there; the body comes while the handler reads it. It gives the
// response as soon as the head can be sent; a body that is a stream is sent piece by piece. One connection has one
// request at a time; requests that a client has sent ahead wait in the connection. If the client is gone while the
// handler works, and has no body left to read, the handler's future is dropped, and so cancelled.
//
// If a handler throws or its future fails, the answer is 500; the error is reported as dropped. Errors that the client
// has caused are not reported: value_too_large of Body::text() or of a body above the limit answers 413, a wrong body
// 400, a slow one 408. If an error comes after the head was sent, the connection is reset. So it is if a stream gives
// more or fewer bytes than it has promised.
//
// The library itself answers 400, 408, 413, 417, 431, 501 and 505 to requests that break the rules or the limits, and
// then closes the connection; see net/http/detail/head.h for the rules. It adds to a response Date, Content-Length or
// Transfer-Encoding, and Connection. A response with a Content-Length that is not the length of its body, with several,
// or with a Transfer-Encoding is a mistake of the handler: the client gets 500, and the connection ends.
//
// The end. When `stop` is ready, the listener accepts all connections that wait, and closes. A connection that has been
// idle for more than a second closes; another may send one more request within a second, so that a client that is just
// sending gets its answer. Running handlers go on, with `ending` set, and each answer says "Connection: close". After
// `grace` seconds, what still runs is cancelled and its connections are reset. serve() fails with the error of `stop`
// or of accept(). Dropping its future resets all connections.

#include "flow/base/seconds.h"
#include "flow/sync/event.h"
#include "net/http/message.h"
#include "net/listener.h"

#include <functional>

namespace flow::net::http {

using Handler = std::function<Future<Response>(Request)>;
/// A handler that is told when the server begins to end: then `ending` is set. A handler that would go on for long,
/// such as one with a stream of events, should end. The pointer is valid as long as serve() runs.
using HandlerToTheEnd = std::function<Future<Response>(Request, Event* ending)>;

struct Exchange {
    std::string_view method = {}, target = {};
    std::string_view route = {}; // the pattern of a Router; "" without one
    Version version = Version::Http11;
    Address const* peer = nullptr;
    int status = 0; // 0: the connection has ended before the response
    double seconds = 0;
    std::uint64_t received = 0, sent = 0; // bytes of the bodies
};

/// What a server has done so far, and does now.
struct ServerCounters {
    std::uint64_t connections = 0; // accepted
    std::uint64_t requests = 0;    // given to the handler
    std::uint64_t refused = 0;     // answered by the library
    std::uint64_t open = 0;        // connections now
    std::uint64_t inFlight = 0;    // requests now
};

/// The limits of a server. serve() fails with invalid_option_value if one of them is not more than 0.
struct ServerOptions {
    std::uint32_t headerBytes = 16384; // of the first line and the fields: else 431. Also of trailers
    std::uint32_t headerCount = 100;   // fields: else 431
    std::uint64_t bodyBytes = 1 << 20; // of a request's body: else 413
    Seconds idle = 60;                 // between two requests of a connection
    Seconds headerTime = 10;           // from the first byte of a head to its last: else 408
    Seconds bodyTime = 30;             // for each 64 KiB of a body that the handler reads, or the rest: else 408
    Seconds writeTime = 30;            // until the client has taken each 64 KiB; else its connection is reset
    std::uint32_t requestsPerConnection = 10000; // the answer to the last one says "Connection: close"
    std::uint32_t connections = 10000;           // more wait, and are not accepted
    std::uint32_t concurrentRequests = 1000;     // in handlers; more wait
    Seconds grace = 10;                          // from `stop` to the end: see above

    /// Called when an exchange has ended. It must not throw.
    std::function<void(Exchange const&)> onEnd = {};
    /// Counts, if it is set. It must live as long as serve() runs.
    ServerCounters* counters = nullptr;
};

Future<Void> serve(Reference<Listener> listener, Handler handler, ServerOptions options, Future<Void> stop);
Future<Void> serve(Reference<Listener> listener, HandlerToTheEnd handler, ServerOptions options, Future<Void> stop);

} // namespace flow::net::http
