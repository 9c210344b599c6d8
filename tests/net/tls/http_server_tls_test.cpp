// The HTTP server over TLS.
#include "net/http/detail/client_connection.h"
#include "net/http/server.h"
#include "net/tls/tls_listener.h"
#include "tests/net/tls/tls_support.h"

#include <doctest/doctest.h>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace http_server_tls_test {
namespace {

Future<http::Response> tellProtocol(http::Request request) {
    co_return http::Response{.body = request.tls->protocol};
}

/// Chooses the protocol by ALPN, writes the text, and returns all that the server sends.
Future<std::string> talk(Reference<Listener> listener, std::string protocol, std::string text) {
    TlsClientOptions asks = clientOptions();
    asks.protocols = {protocol};
    Reference<Connection> carrier = co_await transport().connect(listener->localAddress());
    Reference<TlsConnection> connection = co_await tlsClient(carrier, TlsContext::client(asks), "localhost");
    CHECK(connection->protocol() == protocol);
    (void)connection->write(StringRef(text));
    std::string got;
    for (;;) {
        Bytes piece = co_await connection->read();
        if (piece.empty())
            co_return got;
        got += piece.toStringView();
    }
}

} // namespace

TEST_CASE("http server, TLS: behind ALPN with h2 there is no HTTP/1.1") {
    onBothNetworks([]() -> Future<Void> {
        TlsServerOptions settings = serverOptions();
        settings.protocols = {"h2", "http/1.1"};
        Reference<Listener> plain = transport().listen(transport().localAddress());
        Reference<Listener> listener = makeReference<TlsListener>(plain, TlsContext::server(settings));
        Promise<Void> stop;
        Future<Void> serving = http::serve(listener, http::Handler(tellProtocol), {}, stop.getFuture());
        std::string old = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        std::string got = co_await talk(plain, "http/1.1", old);
        CHECK(got.starts_with("HTTP/1.1 200 "));
        CHECK(got.ends_with("\r\n\r\nhttp/1.1"));
        for (std::string wrong : {old, std::string("hello\r\n")}) {
            got = co_await talk(plain, "h2", wrong);
            CHECK(got.find("HTTP") == std::string::npos);
            bool hasGoAway = got.find(std::string("\0\0\x08\x07\0\0\0\0\0", 9)) != std::string::npos; // of 8 bytes
            CHECK(hasGoAway == http::detail::kSpeaksHttp2);
        }
        stop.send(Void());
        co_await std::move(serving);
    });
}

} // namespace http_server_tls_test
