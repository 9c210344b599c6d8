#pragma once
// tlsConnector(): makes ClientOptions::encrypt, for https.
//
//     http::Client client({.encrypt = http::tlsConnector()});   // trusts the authorities of the system
//     http::Client own({.encrypt = http::tlsConnector({.authorities = "ca.pem"})});
//
// The server's certificate must have the name of the host. If options.protocols is empty, ALPN offers all protocols of
// this build. In a build without OpenSSL, tlsConnector() throws unsupported_operation.

#include "net/http/client.h"
#include "net/tls/tls_context.h"

namespace flow::net::http {

Encrypt tlsConnector(TlsClientOptions options = {});

} // namespace flow::net::http
