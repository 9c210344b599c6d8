// WebSockets over http::serve() and connectWebSocket(), on simulated networks and the machine's.
#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/sim/sim_loop.h"
#include "flow/sim/world.h"
#include "flow/tasks/scope.h"
#include "flow/wait/delay.h"
#include "net/http/websocket.h"
#include "net/sim/sim_network.h"
#include "net/testing/connection_pair.h"
#include "net/testing/scripted_peer.h"
#include "tests/net/http/http_support.h"
#include "tests/net/serve_suite.h"
#include "tests/net/transport_suite.h"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

using namespace flow;
using namespace flow::net;
using namespace flow::net::http;
using namespace flow::test;

namespace {

Future<Void> echoMessages(Reference<WebSocket> socket) {
    for (;;) {
        WebSocketMessage message = co_await socket->receive();
        if (message.data == "fail")
            throw io_error();
        if (message.data == "throw")
            throw std::runtime_error("of another library");
        if (message.data == "leave")
            co_return;
        co_await socket->send(message);
    }
}

Future<Response> acceptEcho(Request request) {
    WebSocketOptions options;
    options.largestMessage = 1000;
    options.protocols = {"chat.v2", "chat.v1"};
    co_return acceptWebSocket(request, echoMessages, options);
}

Future<Reference<WebSocket>> openSocket(HttpServer* server, WebSocketOptions options = {}) {
    Reference<Connection> connection = co_await server->connect();
    co_return co_await connectWebSocket(connection, "test", "/echo?x=1", options);
}

constexpr char kUpgrade[] = "Upgrade: websocket\r\nConnection: keep-alive, Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

} // namespace

TEST_CASE("WebSocket: a client and http::serve(), with subprotocols, until either side closes") {
    onEachNetwork([]() -> Future<Void> {
        HttpServer server(acceptEcho);
        WebSocketOptions options;
        options.protocols = {"chat.v1", "chat.v2", "other"};
        Reference<WebSocket> socket = co_await openSocket(&server, options);
        CHECK(socket->protocol() == "chat.v2");
        for (std::size_t size : {0, 1, 126, 1000}) {
            co_await socket->sendText(std::string(size, 'x'));
            WebSocketMessage message = co_await socket->receive();
            CHECK(message.data == std::string(size, 'x'));
        }
        co_await socket->close(1000, "bye");
        CHECK(socket->closeCode() == 1000);

        for (auto const& [message, code] : {std::pair("leave", 1000), {"fail", 1011}, {"throw", 1011}}) {
            socket = co_await openSocket(&server);
            CHECK(socket->protocol().empty());
            co_await socket->sendText(message);
            Error error = co_await endOf(keep(socket->receive()));
            CHECK(error == end_of_stream());
            CHECK(socket->closeCode() == code);
            co_await socket->closed();
        }
        socket = co_await openSocket(&server);
        co_await socket->sendBinary(std::string(1001, 'x'));
        Error error = co_await endOf(keep(socket->receive()));
        CHECK(error == end_of_stream());
        CHECK(socket->closeCode() == 1009);
        socket = {};
        server.stop.send(Void());
        co_await server.running;
        CHECK(server.counters.open == 0);
    });
}

TEST_CASE("WebSocket: a server that ends says 1001, and does not wait for its grace") {
    onEachNetwork([]() -> Future<Void> {
        HttpServer server(acceptEcho, ServerOptions{.grace = 1000});
        Reference<WebSocket> one = co_await openSocket(&server), two = co_await openSocket(&server);
        co_await one->sendText("x");
        co_await one->receive();
        server.stop.send(Void());
        for (Reference<WebSocket> const& each : {one, two}) {
            Error error = co_await endOf(keep(each->receive()));
            CHECK(error == end_of_stream());
            CHECK(each->closeCode() == 1001);
        }
        double begin = now();
        co_await server.running;
        CHECK(now() - begin < 100);
    });
}

TEST_CASE("WebSocket: requests that are none are refused, and the connection goes on") {
    onEachNetwork([]() -> Future<Void> {
        HttpServer server(acceptEcho);
        Reference<Connection> connection = co_await server.connect();
        auto without = [](std::string const& text) {
            std::string lines = kUpgrade;
            std::size_t at = lines.find(text);
            return lines.erase(at, lines.find("\r\n", at) + 2 - at);
        };
        Received received = co_await ask(connection, get("/"));
        CHECK(received.status == 426);
        CHECK(received.headers.get("Sec-WebSocket-Version") == "13");
        CHECK(received.body == "This address speaks WebSocket only.\n");
        received = co_await ask(connection, get("/", without("Upgrade:")));
        CHECK(received.status == 426);
        received = co_await ask(connection, get("/", without("Connection:")));
        CHECK(received.status == 426);
        received = co_await ask(connection, get("/", without("Sec-WebSocket-Version:")));
        CHECK(received.body == "The version of WebSocket must be 13.\n");
        received = co_await ask(connection, get("/", without("Sec-WebSocket-Key:")));
        CHECK(received.status == 400);
        received = co_await ask(connection, get("/", without("Sec-WebSocket-Key:") + "Sec-WebSocket-Key: AAAA\r\n"));
        CHECK(received.body == "The Sec-WebSocket-Key is not 16 bytes in base64.\n");
        received = co_await ask(connection, "POST / HTTP/1.1\r\nHost: a\r\n" + std::string(kUpgrade) + "\r\n");
        CHECK(received.body == "A WebSocket is asked for by GET and HTTP/1.1.\n");
        // Frames that come together with the request are not lost.
        std::string close = "\x88\x80mask";
        co_await connection->write(StringRef(get("/", kUpgrade) + close));
        std::string answer = co_await readAll(connection);
        CHECK(answer.starts_with("HTTP/1.1 101 Switching Protocols\r\n"));
        CHECK(answer.find("\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n") != std::string::npos);
        CHECK(answer.find("Content-Length") == std::string::npos);
        CHECK(answer.ends_with(std::string("\r\n\r\n\x88\x00", 6)));
    });
}

TEST_CASE("WebSocket: a client refuses answers that are none") {
    SimLoop loop;
    std::string const good = "HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n";
    auto refused = [&](std::string const& answer) {
        auto [client, server] = connectionPair();
        server->write(StringRef(answer));
        server->shutdownWrite();
        Error error = loop.run(endOf(connectWebSocket(client, "a")));
        return std::string(error.name()) + ": " + error.what();
    };
    CHECK(refused("HTTP/1.1 403 Forbidden\r\n\r\n") ==
          "operation_failed: WebSocket: the server's answer has the status 403");
    CHECK(refused("HTTP/1.1 101 x\r\nConnection: Upgrade\r\n\r\n") ==
          "serialization_failed: WebSocket: the server's answer has another Upgrade");
    CHECK(refused("HTTP/1.1 101 x\r\nUpgrade: websocket\r\n\r\n") ==
          "serialization_failed: WebSocket: the server's answer has no \"Connection: Upgrade\"");
    CHECK(
        refused(good + "\r\n") ==
        "serialization_failed: WebSocket: the server's answer has another Sec-WebSocket-Accept than the key asks for");
    CHECK(refused("SSH-2.0\r\n\r\n")
              .starts_with("serialization_failed: WebSocket: the server's answer has a wrong head"));
    CHECK(refused("").starts_with("end_of_stream"));
    CHECK(refused("HTTP/1.1 101").starts_with("connection_cut_off"));
    CHECK(refused(std::string(20'000, 'x')).starts_with("value_too_large"));
    for (char const* target : {"", "chat", "/a b", "/a\r\nX: y"}) {
        Error error = loop.run(endOf(connectWebSocket(connectionPair().first, "a", target)));
        CHECK(error == invalid_option_value());
    }
    Error error = loop.run(endOf(connectWebSocket(connectionPair().first, "a\r\nX: y")));
    CHECK(error == invalid_option_value());
}

TEST_CASE("WebSocket: the handshake of a client may be dropped, and ends the connection") {
    SimLoop loop;
    auto [client, server] = connectionPair();
    Future<Reference<WebSocket>> connecting = connectWebSocket(std::move(client), "a");
    connecting = {};
    std::string all = loop.run(readAll(server));
    CHECK(all.starts_with("GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n"));
}

TEST_CASE("WebSocket: under faults of the network no message is lost before the end, twice, or changed") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        INFO("seed " << seed);
        Faults faults = Faults::swarm(seed);
        faults.messageCorruption = 0; // a wrong bit in a text shows, or does not
        World world(seed, faults);
        SimNetwork network(world);
        Process& server = world.start({.name = "server", .main = []() -> Future<Void> {
                                           Reference<Listener> listener = transport().listen(80);
                                           ServerOptions options;
                                           options.writeTime = 1000;
                                           co_await serve(listener, acceptEcho, options, Never());
                                       }});
        Address at(server.address(), 80);
        Process& client = world.start(
            {.name = "client", .main = [at]() -> Future<Void> {
                 for (int round = 0; round < 10; ++round) {
                     int next = 0;
                     try {
                         Reference<Connection> connection = co_await transport().connect(at);
                         Reference<WebSocket> socket = co_await connectWebSocket(connection, "a");
                         for (int i = 0; i < 20; ++i)
                             co_await socket->sendText(std::to_string(i) + std::string(900, '.'));
                         for (; next < 20; ++next) {
                             WebSocketMessage got = co_await socket->receive();
                             CHECK(got.data == std::to_string(next) + std::string(900, '.'));
                         }
                         co_await socket->close();
                     } catch (Error& error) {
                         CHECK((isConnectionError(error) || error == operation_obsolete() || error == end_of_stream()));
                         if (error == actor_cancelled())
                             throw;
                     }
                     co_await delay(1);
                 }
             }});
        world.run(client.onStop());
    }
}
