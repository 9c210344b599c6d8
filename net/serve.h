#pragma once
// serveUntil(): a server in one call: accepts, serves each connection, and ends in order.
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

#include "flow/sync/event.h"
#include "net/transport.h"

#include <functional>

namespace flow::net {

/// Serves one connection. `ending` is set when the server begins to end, and stays set: a handler that waits for a next
/// request then returns, and one that has a request answers it before. The pointer is valid as long as the future.
using ServeToTheEnd = std::function<Future<Void>(Reference<Connection>, Event* ending)>;
/// A handler without `ending`: its connections last as long as their clients want, or until the grace is over.
using Serve = std::function<Future<Void>(Reference<Connection>)>;

/// Calls serve(connection, &ending) for each connection that the listener accepts, until `stop` is ready. Then it
/// closes the listener, sets `ending`, waits until all handlers have ended and the written bytes are sent, at most
/// `grace` seconds, and cancels the rest. Fails with the error of `stop`, or that of accepting. Dropping it cancels
/// all.
///
/// The connection stays open until the handler ends, if that does not close it before. It ends after the written bytes
/// if the handler returns, or fails with end_of_stream. It is reset (Connection::abort()) if the handler fails in
/// another way or is cancelled, so that the other side does not take what it has for the whole.
///
/// An error of one connection, also one that `serve` throws, ends only that one. Errors that the other side causes
/// (isConnectionError(), end_of_stream, value_too_large) are ignored, others are reported as dropped by "the server at"
/// its address.
Future<Void> serveUntil(Reference<Listener> listener, ServeToTheEnd serve, Future<Void> stop, double grace);
Future<Void> serveUntil(Reference<Listener> listener, Serve serve, Future<Void> stop, double grace);

} // namespace flow::net
