// The HTTP client over TLS.
#include "net/http/client_tls.h"

#include "net/serve.h"
#include "net/tls/tls_listener.h"
#include "tests/net/http/client_support.h"
#include "tests/net/tls/tls_support.h"

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace http_client_tls_test {
namespace {

/// Answers each request with the protocol and the name that its client has asked for.
Future<Void> tellNames(Reference<Connection> connection) {
    for (;;) {
        co_await connection->readUntil("\r\n\r\n"_sr, 10000);
        TlsConnection* tls = TlsConnection::of(*connection);
        std::string body = tls->protocol() + " " + tls->serverName();
        co_await connection->write(
            StringRef("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body));
    }
}

} // namespace

TEST_CASE("http client, TLS: names, ALPN, kept connections, and certificates that are refused") {
    onBothNetworks([]() -> Future<Void> {
        TlsServerOptions settings = serverOptions();
        settings.protocols = {"h2", "spdy/3", "http/1.1"};
        Reference<Listener> plain = transport().listen(transport().localAddress());
        Address at = plain->localAddress();
        Reference<Listener> listener = makeReference<TlsListener>(plain, TlsContext::server(settings));
        Promise<Void> stop;
        Future<Void> serving = serveUntil(listener, Serve(tellNames), stop.getFuture(), 1.0);
        http::ClientOptions options;
        options.connect = [at](std::string, std::uint16_t) { return transport().connect(at); };
        {
            TlsClientOptions asks = clientOptions();
            asks.protocols = {"http/1.1"};
            options.encrypt = http::tlsConnector(asks);
            http::Client client(options);
            for (int i = 0; i < 3; ++i) {
                std::string got = co_await answerText(client.get("https://localhost:1/"));
                CHECK(got == "200 http/1.1 localhost");
                CHECK(client.idle() == 1);
            }
            std::string got = co_await answerText(client.get("https://example.com/"));
            CHECK(got.starts_with("tls_wrong_name: GET https://example.com/: "));
            CHECK(got.find("example.com", 40) != std::string::npos); // the reason names it
            options.encrypt = http::tlsConnector();
            http::Client trusting(options);
            got = co_await answerText(trusting.get("https://localhost/"));
            CHECK(got.starts_with("tls_certificate_untrusted: GET https://localhost/: "));
            CHECK(trusting.idle() == 0);
            asks.protocols = {"spdy/3"};
            options.encrypt = http::tlsConnector(asks);
            http::Client other(options);
            got = co_await answerText(other.get("https://localhost/"));
            CHECK(got ==
                  "unsupported_operation: GET https://localhost/: the server has chosen the protocol \"spdy/3\", which "
                  "this client does not speak");
            asks.protocols = {"h2", "http/1.1"};
            options.encrypt = http::tlsConnector(asks);
            http::Client sockets(options);
            Future<Reference<Connection>> connecting = sockets.connect("https://localhost/");
            Reference<Connection> connection = co_await std::move(connecting);
            CHECK(TlsConnection::of(*connection)->protocol() == "http/1.1"); // for other protocols never "h2"
        }
        stop.send(Void());
        co_await std::move(serving);
    });
}

} // namespace http_client_tls_test
