#include "flow/coro/coroutine.h"
#include "net/http/websocket.h"
#include "tests/net/tls/tls_support.h"

#include <doctest/doctest.h>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

TEST_CASE("WebSocket over TLS: messages both ways, and a close") {
    onBothNetworks([]() -> Future<Void> {
        Met met = co_await meet();
        using Side = http::WebSocket::Side;
        auto client = makeReference<http::WebSocket>(Reference<Connection>(met.client), Side::Client);
        auto server = makeReference<http::WebSocket>(Reference<Connection>(met.server), Side::Server);
        met = {};
        for (std::size_t size : {0, 1000, 100'000}) {
            std::string data(size, 'x');
            Future<Void> sending = client->sendText(data), answering = server->sendBinary(data);
            http::WebSocketMessage text = co_await server->receive(), binary = co_await client->receive();
            CHECK(text.data == data);
            CHECK(binary.data == data);
            co_await sending;
            co_await answering;
        }
        co_await client->close(4000, "enough");
        CHECK(server->closeCode() == 4000);
        co_await server->closed();
    });
}
