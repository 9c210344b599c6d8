#pragma once
// serveUntil(): a server in one call: accepts, serves each connection, and ends gracefully.
//
//     Reference<Listener> listener = transport().listen(port);
//     co_await serveUntil(listener, echo, success(keep(signals({SIGTERM, SIGINT}))), 5.0);

#include "net/transport.h"

#include <functional>

namespace flow::net {

/// Calls serve(connection) for each connection that the listener accepts, until `stop` is ready. Then it closes the
/// listener, waits until all connections have ended and their written bytes are sent, at most `grace` seconds, and
/// cancels the rest. An error of one connection ends only that one. Errors that the other side causes
/// (isConnectionError(), end_of_stream, value_too_large) are ignored, others are reported as dropped by "the server at"
/// its address. Fails with the error of `stop`, or that of accepting. Dropping it cancels all.
Future<Void> serveUntil(Reference<Listener> listener, std::function<Future<Void>(Reference<Connection>)> serve,
                        Future<Void> stop, double grace);

} // namespace flow::net
