
#include "net/http/detail/http2_client.h"
#include "net/http/detail/http2_server.h"

namespace flow::net::http::detail {

Future<Void> serveHttp2(Service*, Reference<Connection>, Bytes, Event*) {
    return Void(); // closes the connection: the client may try HTTP/1.1
}

Reference<Http2Client> Http2Client::over(Reference<Connection>, Options) {
    throw unsupported_operation().withSentence("HTTP/2 needs nghttp2: the library was built without it");
}

} // namespace flow::net::http::detail
