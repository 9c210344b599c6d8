#pragma once
// tlsConnector(): the Encrypt of a client's options, for https.
//
//     http::Client client({.encrypt = http::tlsConnector()});   // trusts the authorities of the system
//     http::Client own({.encrypt = http::tlsConnector({.authorities = "ca.pem"})});
//
// The server's certificate must have the name of the host. Without options.protocols, ALPN offers all that this build
// speaks. If a handshake fails, what() of the error gives the reason. In a build without OpenSSL
// tlsConnector() throws unsupported_operation.

#include "net/http/client.h"
#include "net/tls/tls_context.h"

namespace flow::net::http {

Encrypt tlsConnector(TlsClientOptions options = {});

} // namespace flow::net::http
