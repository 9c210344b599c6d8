#include "net/http/detail/client_connection.h"

namespace flow::net::http::detail {

Reference<ClientConnection> makeClientConnection(Reference<Connection> connection, std::string const& protocol,
                                                 bool isSecure, ClientOptions const& options) {
    if (protocol == "h2")
        return makeHttp2Client(std::move(connection), isSecure, options);
    if (!protocol.empty() && protocol != "http/1.1")
        throw unsupported_operation().withSentence("the server has chosen the protocol \"" + protocol +
                                                   "\", which this client does not speak");
    return makeHttp1Client(std::move(connection));
}

Error errorAbout(std::string const& about, Error error) {
    return error.withSentence(about + ": " + error.what());
}

} // namespace flow::net::http::detail
