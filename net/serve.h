#pragma once
// serveUntil() is a whole server: it accepts connections, serves each one, and shuts down in order.
//
//     Future<Void> echo(Reference<Connection> client, Event* ending) {
//         for (;;) {
//             auto next = co_await race(client->read(), ending->wait());
//             if (next.index() == 1 || std::get<0>(next).empty())
//                 co_return;
//             co_await client->write(std::get<0>(std::move(next)));
//         }
//     }
//
//     Reference<Listener> listener = transport().listen(port);
//     co_await serveUntil(listener, echo, success(keep(signals({SIGTERM, SIGINT}))), 5.0);

#include "flow/base/seconds.h"
#include "flow/sync/event.h"
#include "net/transport.h"

#include <functional>
#include <limits>

namespace flow::net {

/// A handler of one connection. At shutdown the server sets `ending`: a handler that waits for a request should return,
/// and a handler with a request should answer it first. The pointer is valid as long as the handler runs.
using ServeToTheEnd = std::function<Future<Void>(Reference<Connection>, Event* ending)>;
/// A handler without `ending`. At shutdown its connection lasts until the client ends it, or until `grace` is over.
using Serve = std::function<Future<Void>(Reference<Connection>)>;
inline constexpr std::size_t kAllConnections = std::numeric_limits<std::int64_t>::max();

/// Calls serve(connection, &ending) for each accepted connection until `stop` is ready. Then it accepts the connections
/// that wait, closes the listener, sets `ending`, and waits at most `grace` seconds until all handlers have ended and
/// the written bytes are sent. It cancels the handlers that still run, and waits for shielded work of this loop
/// (flow/tasks/scope.h), such as a ROLLBACK. Fails with the error of `stop` or of accept(). Dropping the future cancels
/// all handlers. At most `most` connections are served at a time: further ones wait to be accepted.
///
/// A connection stays open until its handler ends, unless the handler closes it earlier. If the handler returns, or
/// fails with end_of_stream, the connection ends after the written bytes. If the handler fails in another way or is
/// cancelled, the connection is reset (Connection::abort()): the other side must not believe that it has all bytes.
///
/// An error of one connection, or an exception of `serve`, ends only that connection. Errors that the other side can
/// cause (isConnectionError(), end_of_stream, value_too_large) are ignored. Other errors are reported as dropped by
/// "the server at" the listener's address.
///
/// If systemd has started the program, serveUntil() notifies it of the start and the end: net/service_manager.h.
Future<Void> serveUntil(Reference<Listener> listener, ServeToTheEnd serve, Future<Void> stop, Seconds grace,
                        std::size_t most = kAllConnections);
Future<Void> serveUntil(Reference<Listener> listener, Serve serve, Future<Void> stop, Seconds grace,
                        std::size_t most = kAllConnections);

} // namespace flow::net
