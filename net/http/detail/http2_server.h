#pragma once
// Serves a connection in HTTP/2, with the handler and the limits of an http::serve().

#include "net/http/detail/service.h"

namespace flow::net::http::detail {

/// Serves a connection until it ends. `first`: bytes that have been read from it, such as the beginning of the preface.
/// An error means that the connection must be reset. When `ending` is set, the client gets two GOAWAY: a notice, and,
/// when it has answered a ping, or after a second, the number of the last stream that was taken. Without nghttp2, the
/// connection ends at once.
Future<Void> serveHttp2(Service* service, Reference<Connection> connection, Bytes first, Event* ending);

/// What a client of HTTP/2 sends first, up to the first empty line.
inline constexpr std::string_view kHttp2Preface = "PRI * HTTP/2.0\r\n\r\n";

} // namespace flow::net::http::detail
