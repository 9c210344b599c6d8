#include "net/http/detail/client_connection.h"

namespace flow::net::http::detail {

bool const kSpeaksHttp2 = false;

Reference<ClientConnection> makeHttp2Client(Reference<Connection>, bool, ClientOptions const&) {
    throw unsupported_operation().withSentence("HTTP/2 needs nghttp2: the library was built without it");
}

} // namespace flow::net::http::detail
