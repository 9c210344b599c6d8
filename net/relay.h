#pragma once
// relay(): copies bytes between two connections, in both directions. A proxy is a connect() and a relay().
//
//     Future<Void> proxy(Reference<Connection> client) {
//         Reference<Connection> server = co_await connect("example.org", 80);
//         co_await relay(client, server);
//     }
//
// When one side has ended its writing, the other side reads the end after all bytes, and the other direction goes on.
// The future is ready when both sides have ended their writing and the kernel has taken all bytes.
//
// An error of one side is the error of the future. An error, a cancel and a dropped future reset both connections, so
// that no side mistakes a part of the bytes for all (but a Unix socket has no reset: see Connection::abort()). There is
// no time limit; to set one, race the relay with a delay().
//
// Memory is bounded: a direction does not read while the other side has more bytes to send than its water marks allow.
// The relay holds both connections until it ends; nothing else may read from them or write to them until then.

#include "flow/core/future.h"
#include "net/connection.h"

#include <source_location>

namespace flow::net {

Future<Void> relay(Reference<Connection> a, Reference<Connection> b,
                   std::source_location caller = std::source_location::current());

} // namespace flow::net
