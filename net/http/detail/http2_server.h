#pragma once
// Serves a connection in HTTP/2, for http::serve().

#include "net/http/detail/service.h"

namespace flow::net::http::detail {

/// Serves a connection until it ends. `first`: bytes that were already read. After an error the caller must reset the
/// connection. When `ending` is set, the client gets two GOAWAY frames: first a notice; then, after the client's answer
/// to a ping or a second later, the last stream that is served. Without nghttp2, the connection ends at once.
Future<Void> serveHttp2(Service* service, Reference<Connection> connection, Bytes first, Event* ending);

/// The first bytes of an HTTP/2 client, up to the first empty line.
inline constexpr std::string_view kHttp2Preface = "PRI * HTTP/2.0\r\n\r\n";

} // namespace flow::net::http::detail
