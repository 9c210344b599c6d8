// What a peer costs that makes TLS answer it and reads nothing.

#include "flow/combine/errors.h"
#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/wait/delay.h"
#include "net/tls/detail/tls_connection.h"
#include "net/transport.h"
#include "tests/net/costs.h"
#include "tests/net/tls/tls_support.h"
#include "tests/net/transport_suite.h"

#include <doctest/doctest.h>

#include <openssl/ssl.h>

#include <memory>
#include <string>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace {

/// A client of OpenSSL's own over a plain connection, which asks for new keys as often as the test wants.
struct RawClient {
    explicit RawClient(Reference<Connection> to)
        : plain(std::move(to)), context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free),
          ssl(SSL_new(context.get()), SSL_free) {
        in = BIO_new(BIO_s_mem());
        out = BIO_new(BIO_s_mem());
        SSL_set_bio(ssl.get(), in, out);
        SSL_set_connect_state(ssl.get());
    }
    std::string takeOut() {
        char* bytes = nullptr;
        long size = BIO_get_mem_data(out, &bytes);
        std::string all(bytes, static_cast<std::size_t>(size));
        (void)BIO_reset(out);
        return all;
    }
    void put(StringRef bytes) { BIO_write(in, bytes.begin(), bytes.size()); }
    Future<Void> shakeHands() {
        while (SSL_do_handshake(ssl.get()) != 1) {
            co_await plain->write(StringRef(takeOut()));
            Bytes some = co_await plain->read();
            put(some);
        }
        co_await plain->write(StringRef(takeOut()));
    }
    /// So many requests for new keys, each in a record of its own.
    std::string keyUpdates(int count) {
        std::string all;
        for (int i = 0; i < count; ++i) {
            SSL_key_update(ssl.get(), SSL_KEY_UPDATE_REQUESTED);
            REQUIRE(SSL_do_handshake(ssl.get()) == 1);
            all += takeOut();
        }
        return all;
    }
    std::string record(StringRef bytes) {
        SSL_write(ssl.get(), bytes.begin(), bytes.size());
        return takeOut();
    }

    Reference<Connection> plain;
    std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context;
    std::unique_ptr<SSL, void (*)(SSL*)> ssl;
    BIO *in, *out;
};

Future<Void> echoAll(Reference<TlsConnection> connection) {
    for (;;) {
        Bytes some = co_await connection->read();
        if (some.empty())
            co_return;
        co_await connection->write(some);
    }
}

} // namespace

TEST_CASE("tls costs: of a peer that asks for new keys and reads no answer nothing is read any more, until it reads") {
    onBothNetworks([]() -> Future<Void> {
        constexpr int kRequests = 6000, kAtATime = 100;
        ConnectOptions small;
        small.receiveBuffer = 4096;
        Reference<Listener> listener = transport().listen(transport().localAddress(), {{.sendBuffer = 4096}});
        Future<Reference<Connection>> connecting = transport().connect(listener->localAddress(), small);
        Reference<Connection> accepted = co_await listener->accept();
        RawClient client(co_await std::move(connecting));
        Future<Reference<TlsConnection>> shaking = tlsServer(accepted, TlsContext::server(serverOptions()));
        co_await client.shakeHands();
        Reference<TlsConnection> server = co_await std::move(shaking);
        Future<Void> serving = echoAll(server);
        std::int64_t before = usedBytes();
        std::size_t sent = 0, most = 0;
        std::vector<Future<Void>> writing;
        for (int i = 0; i < kRequests; i += kAtATime) {
            std::string requests = client.keyUpdates(kAtATime);
            sent += requests.size();
            writing.push_back(client.plain->write(StringRef(requests)));
            co_await delay(0.001);
            most = std::max(most, server->queuedBytes());
        }
        (void)client.plain->write(StringRef(client.record("after all that"_sr)));
        CHECK(most > 0);
        CHECK(most <= Connection::kHighWater + 8000); // and some of the handshake
        // Both ends, and what the client has not been able to send, lie in this process.
        CHECK(usedBytes() - before <= 3 * static_cast<std::int64_t>(sent) + 512 * 1024);
        // When it reads, all is answered.
        std::string echoed;
        while (echoed.size() < 14) {
            Bytes some = co_await client.plain->read();
            REQUIRE(!some.empty());
            client.put(some);
            char text[100];
            int count = SSL_read(client.ssl.get(), text, sizeof text);
            if (count > 0)
                echoed.append(text, static_cast<std::size_t>(count));
            else
                REQUIRE(SSL_get_error(client.ssl.get(), count) == SSL_ERROR_WANT_READ);
        }
        CHECK(echoed == "after all that");
        client.plain->close();
        (void)co_await endOf(serving);
    });
}
