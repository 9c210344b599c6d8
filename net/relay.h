#pragma once
// relay(): copies the bytes of a connection to another one, and back. A proxy is a connect() and a relay().
//
//     Future<Void> proxy(Reference<Connection> client) {
//         Reference<Connection> server = co_await connect("example.org", 80);
//         co_await relay(client, server);
//     }
//
// When one side has ended its writing, the other side reads the end after all bytes, and the other direction goes on.
// The future is ready when both sides have ended their writing and all bytes are sent: the kernel has taken them.
//
// An error of one side is the error of the future. An error, a cancel and a dropped future reset both connections, so
// no side takes half of the bytes for all of them (but a Unix socket has no reset: see Connection::abort()). There is
// no limit in time; for one, race the relay with a delay().
//
// Memory is bounded: a direction reads no more as long as the other side has no room, which the water marks of that
// side decide. The relay holds both connections until it ends, and nothing else may read from them or write to them
// meanwhile.

#include "flow/core/future.h"
#include "net/connection.h"

#include <source_location>

namespace flow::net {

Future<Void> relay(Reference<Connection> a, Reference<Connection> b,
                   std::source_location caller = std::source_location::current());

} // namespace flow::net
