#include "net/http/detail/service.h"
#include "net/tls/detail/tls_connection.h"

namespace flow::net::http::detail {

std::shared_ptr<TlsFacts const> tlsFactsOf(Connection& connection) {
    TlsConnection* tls = TlsConnection::of(connection);
    if (!tls)
        return nullptr;
    return std::make_shared<TlsFacts const>(
        TlsFacts{tls->version(), tls->cipher(), tls->serverName(), tls->peerSubject(), tls->protocol()});
}

} // namespace flow::net::http::detail
