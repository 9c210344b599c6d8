#include "flow/coro/coroutine.h"
#include "net/http/client_tls.h"
#include "net/http/detail/client_connection.h"
#include "net/tls/detail/tls_connection.h"

namespace flow::net::http {
namespace {

Future<Encrypted> encryptFor(Reference<Connection> carrier, Reference<TlsContext> context, std::string host) {
    Reference<TlsConnection> connection = co_await tlsClient(carrier, context, std::move(host));
    Encrypted encrypted{connection, connection->protocol()};
    co_return encrypted;
}

} // namespace

Encrypt tlsConnector(TlsClientOptions options) {
    if (options.protocols.empty())
        options.protocols =
            detail::kSpeaksHttp2 ? std::vector<std::string>{"h2", "http/1.1"} : std::vector<std::string>{"http/1.1"};
    Reference<TlsContext> context = TlsContext::client(options), http1 = context;
    if (std::erase(options.protocols, "h2") != 0)
        http1 = TlsContext::client(options);
    return [context, http1](Reference<Connection> carrier, std::string host, bool mayBeHttp2) {
        return encryptFor(std::move(carrier), mayBeHttp2 ? context : http1, std::move(host));
    };
}

} // namespace flow::net::http
