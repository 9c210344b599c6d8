#include "net/http/client_tls.h"

namespace flow::net::http {

Encrypt tlsConnector(TlsClientOptions) {
    throw unsupported_operation().withSentence("this build of Millrace has no TLS: OpenSSL was not there");
}

} // namespace flow::net::http
