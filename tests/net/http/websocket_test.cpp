#include "net/http/websocket.h"

#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/sim/sim_loop.h"
#include "flow/wait/delay.h"
#include "net/http/detail/websocket_frame.h"
#include "net/testing/connection_pair.h"
#include "net/testing/scripted_peer.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/cancel_everywhere.h"
#include "tests/flow/support/death.h"
#include "tests/net/transport_suite.h"

#include <doctest/doctest.h>

#include <string>

using namespace flow;
using namespace flow::net;
using namespace flow::net::http;
using namespace flow::test;
using namespace std::string_literals;

namespace {

constexpr websocket::Mask kTestMask = {1, 2, 3, 4};

/// A frame as a client sends it.
std::string clientFrame(websocket::Opcode opcode, std::string const& payload, bool isLast = true) {
    std::string frame = makeFrame(opcode, payload, kTestMask).toString();
    if (!isLast)
        frame[0] = static_cast<char>(frame[0] & 0x7F);
    return frame;
}
std::string clientText(std::string const& payload, bool isLast = true) {
    return clientFrame(websocket::Opcode::Text, payload, isLast);
}
std::string clientMore(std::string const& payload, bool isLast = true) {
    return clientFrame(websocket::Opcode::Continuation, payload, isLast);
}
std::string clientClose(int code, std::string const& reason = "") {
    std::string payload = {static_cast<char>(code >> 8), static_cast<char>(code)};
    return clientFrame(websocket::Opcode::Close, payload + reason);
}
/// A frame as a server sends it.
std::string serverFrame(websocket::Opcode opcode, std::string const& payload) {
    return makeFrame(opcode, payload, {}).toString();
}
std::string serverClose(int code, std::string const& reason = "") {
    return serverFrame(websocket::Opcode::Close,
                       std::string{static_cast<char>(code >> 8), static_cast<char>(code)} + reason);
}

struct TwoSockets {
    Reference<WebSocket> client, server;
};
TwoSockets twoSockets(WebSocketOptions const& options = {}) {
    auto [client, server] = connectionPair();
    return {makeReference<WebSocket>(client, WebSocket::Side::Client, options),
            makeReference<WebSocket>(server, WebSocket::Side::Server, options)};
}

/// A server's socket, and the client's side of its connection.
struct HalfSocket {
    Reference<WebSocket> server;
    Reference<Connection> client;
};
HalfSocket halfSocket(WebSocketOptions const& options = {}) {
    auto [client, server] = connectionPair();
    return {makeReference<WebSocket>(server, WebSocket::Side::Server, options), client};
}

Future<Error> endOfReceive(Reference<WebSocket> socket) {
    for (;;) {
        ErrorOr<WebSocketMessage> got = co_await tryGet(keep(socket->receive()));
        if (got.isError())
            co_return got.getError();
    }
}

Future<Void> echoAll(Reference<WebSocket> socket) {
    for (;;) {
        WebSocketMessage message = co_await socket->receive();
        co_await socket->send(message);
    }
}

template <class F>
void inSimLoop(F test) {
    Balance balance;
    SimLoop loop;
    loop.run(test());
}

} // namespace

TEST_CASE("WebSocket: a close with a code that may not be sent ends the program with the caller's line") {
    SimLoop loop;
    TwoSockets both = twoSockets();
    for (int code : {-1, 0, 1005, 66536})
        CHECK_DIES((void)both.client->close(code), "websocket_test.cpp");
}

TEST_CASE("WebSocket: messages of each kind and size, both ways") {
    inSimLoop([]() -> Future<Void> {
        TwoSockets both = twoSockets();
        Future<Void> echoing = echoAll(both.server);
        for (std::size_t size : {0, 1, 125, 126, 65535, 65536, 1 << 20})
            for (bool isText : {true, false}) {
                WebSocketMessage sent{std::string(size, isText ? 'x' : '\xFF'), isText};
                Future<Void> sending = both.client->send(sent);
                WebSocketMessage got = co_await both.client->receive();
                CHECK(got.data == sent.data);
                CHECK(got.isText == isText);
                co_await sending;
            }
        co_await both.client->close(4000, "enough");
        CHECK(both.server->closeCode() == 4000);
        CHECK(both.server->closeReason() == "enough");
        CHECK(both.client->closeCode() == 4000);
        ErrorOr<Void> ended = co_await tryGet(std::move(echoing));
        CHECK(ended.isError(error_code_end_of_stream));
        co_await both.server->closed();
        Error sendError = co_await endOf(Future<Void>(both.server->sendText("late")));
        CHECK(sendError == operation_obsolete());
        Error clientEnd = co_await endOfReceive(both.client);
        CHECK(clientEnd == end_of_stream());
        CHECK(now() == 0);
    });
}

TEST_CASE("WebSocket: fragments, with pings between them, and characters that they cut") {
    inSimLoop([]() -> Future<Void> {
        HalfSocket socket = halfSocket();
        ScriptedPeer peer(socket.client);
        peer.send(clientText("a\xC3", false) + clientFrame(websocket::Opcode::Ping, "are you there?"))
            .expect(serverFrame(websocket::Opcode::Pong, "are you there?"))
            .send(clientFrame(websocket::Opcode::Pong, "unasked") + clientMore("\xA4", false) + clientMore("", false) +
                  clientMore("z"))
            .send(clientFrame(websocket::Opcode::Binary, "", false) + clientMore("\xC3"));
        co_await peer.run();
        WebSocketMessage first = co_await socket.server->receive();
        CHECK(first.data == "a\xC3\xA4z");
        CHECK(first.isText);
        WebSocketMessage second = co_await socket.server->receive();
        CHECK(second.data == "\xC3");
        CHECK_FALSE(second.isText);
        // One byte at a time.
        for (char each : clientFrame(websocket::Opcode::Ping, "") + clientText("slow")) {
            co_await socket.client->write(StringRef(std::string(1, each)));
            co_await delay(1);
        }
        WebSocketMessage slow = co_await socket.server->receive();
        CHECK(slow.data == "slow");
        peer.expect(serverFrame(websocket::Opcode::Pong, ""))
            .send(clientClose(1000))
            .expect(serverClose(1000))
            .expectEnd()
            .end();
        co_await peer.run();
        co_await socket.server->closed();
    });
}

TEST_CASE("WebSocket: what breaks the protocol ends the connection, and the other side learns why") {
    struct Attack {
        std::string bytes;
        int code;
        Error error;
    };
    std::string huge = "\x82\xFF\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF";
    std::vector<Attack> const attacks = {
        {"\x81\x05Hello", 1002, serialization_failed()},                            // no mask
        {"\xC1\x80mask", 1002, serialization_failed()},                             // a reserved bit
        {"\x83\x80mask", 1002, serialization_failed()},                             // an unknown kind
        {"\x89\xFE", 1002, serialization_failed()},                                 // a ping of 126 bytes
        {clientMore("x"), 1002, serialization_failed()},                            // a part of no message
        {clientText("x", false) + clientText("y"), 1002, serialization_failed()},   // a message within a message
        {clientFrame(websocket::Opcode::Close, "x"), 1002, serialization_failed()}, // half a code
        {clientClose(1005), 1002, serialization_failed()},
        {clientClose(999), 1002, serialization_failed()},
        {clientClose(5000), 1002, serialization_failed()},
        {clientClose(1000, "\xFF"), 1007, serialization_failed()},
        {clientText("\xFF"), 1007, serialization_failed()},
        {clientText("\xC3", false) + clientMore("x"), 1007, serialization_failed()},
        {huge, 1009, value_too_large()},
        {clientFrame(websocket::Opcode::Binary, std::string(1001, 'x')), 1009, value_too_large()},
        {clientText(std::string(500, 'x'), false) + clientMore(std::string(501, 'x')), 1009, value_too_large()},
    };
    for (Attack const& attack : attacks) {
        INFO(StringRef(attack.bytes).printable());
        inSimLoop([&attack]() -> Future<Void> {
            WebSocketOptions options;
            options.largestMessage = 1000;
            HalfSocket socket = halfSocket(options);
            std::string bytes = attack.bytes;
            bytes.resize(bytes.size() + (bytes.starts_with("\x89\xFE") ? 6 : 0));
            bytes += std::string(100'000, 'y'); // what follows is not read as frames
            co_await race(socket.client->write(StringRef(bytes)), delay(1));
            Error error = co_await endOfReceive(socket.server);
            CHECK(error == attack.error);
            CHECK(socket.server->closeCode() == attack.code);
            std::string answer = co_await readAll(socket.client);
            CHECK(answer == serverClose(attack.code, socket.server->closeReason()));
            INFO(error.what());
            CHECK(std::string(error.what()).find(socket.server->closeReason()) != std::string::npos);
            socket.client->close();
            co_await socket.server->closed();
            CHECK(now() <= 1);
        });
    }
}

TEST_CASE("WebSocket: a client takes no frames with a mask, and says 1002 in one with a mask") {
    inSimLoop([]() -> Future<Void> {
        auto [client, server] = connectionPair();
        auto socket = makeReference<WebSocket>(client, WebSocket::Side::Client);
        co_await server->write(StringRef(clientText("x")));
        Error error = co_await endOfReceive(socket);
        CHECK(error == serialization_failed());
        Bytes answer = co_await server->read();
        CHECK(static_cast<std::uint8_t>(answer[0]) == 0x88);
        CHECK(answer[1] >= 0x80);
        server->close(); // the server closes first
        co_await socket->closed();
    });
}

TEST_CASE("WebSocket: each way in which a connection ends") {
    inSimLoop([]() -> Future<Void> {
        { // A close without a code.
            HalfSocket socket = halfSocket();
            ScriptedPeer peer(socket.client);
            co_await peer.send(clientFrame(websocket::Opcode::Close, "")).expect("\x88\x00"s).expectEnd().end().run();
            Error error = co_await endOfReceive(socket.server);
            CHECK(error == end_of_stream());
            CHECK(socket.server->closeCode() == 1005);
        }
        { // No close, within and between frames.
            for (std::string const& bytes : {""s, "\x81"s, clientText("x").substr(0, 6), clientText("x", false)}) {
                HalfSocket socket = halfSocket();
                co_await socket.client->write(StringRef(bytes));
                socket.client->shutdownWrite();
                Error error = co_await endOfReceive(socket.server);
                CHECK(error == connection_cut_off());
                CHECK(socket.server->closeCode() == 1006);
                co_await socket.server->closed();
            }
        }
        { // A reset.
            HalfSocket socket = halfSocket();
            socket.client->abort();
            Error error = co_await endOfReceive(socket.server);
            CHECK(error == connection_reset());
            CHECK(socket.server->closeCode() == 1006);
        }
        { // Dropped: the other side gets 1001.
            HalfSocket socket = halfSocket();
            socket.server = {};
            std::string all = co_await readAll(socket.client);
            CHECK(all == serverClose(1001));
        }
        { // The last messages come before the end.
            HalfSocket socket = halfSocket();
            co_await socket.client->write(
                StringRef(clientText("one") + clientText("two") + clientText("three") + clientClose(1000)));
            co_await delay(1);
            for (char const* expected : {"one", "two", "three"}) {
                WebSocketMessage message = co_await socket.server->receive();
                CHECK(message.data == expected);
            }
            Error error = co_await endOfReceive(socket.server);
            CHECK(error == end_of_stream());
        }
    });
}

TEST_CASE("WebSocket: a close that the other side does not answer ends in time") {
    inSimLoop([]() -> Future<Void> {
        HalfSocket socket = halfSocket({.closeWithin = 3});
        double begin = now();
        Future<Void> flooding = [](Reference<Connection> client) -> Future<Void> {
            for (;;) {
                co_await client->write(StringRef(clientText("more and more")));
                co_await delay(0.1);
            }
        }(socket.client);
        co_await delay(1);
        auto closed = socket.server->close(1000);
        Error error = co_await endOfReceive(socket.server);
        CHECK(error == end_of_stream());
        CHECK(now() == begin + 1);
        co_await closed;
        CHECK(now() - begin == doctest::Approx(4));
        Error flooded = co_await endOf(std::move(flooding));
        CHECK(flooded == connection_reset());
    });
}

TEST_CASE("WebSocket: pings find a silent peer, and leave one that answers, or is not read") {
    inSimLoop([]() -> Future<Void> {
        WebSocketOptions options;
        options.pingEvery = 10;
        options.pongWithin = 5;
        {
            HalfSocket silent = halfSocket(options);
            Error error = co_await endOfReceive(silent.server);
            CHECK(error == connection_timed_out());
            CHECK(now() == 15);
        }
        TwoSockets both = twoSockets(options);
        auto early = co_await race(both.client->receive(), both.server->receive(), delay(1000));
        CHECK(early.index() == 2);
        co_await both.client->close();
    });
    inSimLoop([]() -> Future<Void> {
        // The server does not take its messages for long, which is not the client's fault.
        auto [client, server] = connectionPair();
        auto sender = makeReference<WebSocket>(client, WebSocket::Side::Client, WebSocketOptions{.pingEvery = 0});
        auto receiver = makeReference<WebSocket>(server, WebSocket::Side::Server);
        for (char const* each : {"one", "two", "three", "four"})
            co_await sender->sendText(each);
        co_await delay(1000);
        CHECK_FALSE(receiver->failure().isValid());
        for (char const* expected : {"one", "two", "three", "four"}) {
            WebSocketMessage message = co_await receiver->receive();
            CHECK(message.data == expected);
        }
        co_await delay(1000);
        CHECK_FALSE(receiver->failure().isValid());
        co_await sender->close();
    });
}

TEST_CASE("WebSocket: send waits for room, and a peer that reads nothing gets a bounded number of bytes") {
    inSimLoop([]() -> Future<Void> {
        HalfSocket socket = halfSocket();
        std::string message(10'000, 'x');
        int sent = 0;
        for (;;) {
            auto first = co_await race(socket.server->sendText(message), delay(1));
            ++sent; // also what loses is sent
            if (first.index() == 1)
                break;
        }
        CHECK(sent == 7);
        std::string all = co_await readAtLeast(socket.client, static_cast<std::size_t>(sent) * (4 + message.size()));
        CHECK(all.size() == static_cast<std::size_t>(sent) * (4 + message.size()));
        co_await socket.server->sendText("x");
    });
    // A flood of pings from a peer that reads nothing: the pongs that wait are bounded, and so are the pings read.
    inSimLoop([]() -> Future<Void> {
        HalfSocket socket = halfSocket({.pingEvery = 0});
        std::string pings;
        for (int i = 0; i < 100; ++i)
            pings += clientFrame(websocket::Opcode::Ping, std::string(125, 'p'));
        int written = 0;
        for (;; ++written) {
            auto first = co_await race(socket.client->write(StringRef(pings)), delay(1));
            if (first.index() == 1)
                break;
        }
        CHECK(written < 20);
        std::string all = co_await readAtLeast(socket.client, static_cast<std::size_t>(written) * 127 * 100);
        CHECK(all.starts_with("\x8A\x7Dp"));
    });
}

TEST_CASE("WebSocket: what a peer only promises takes no memory, and empty fragments without end neither") {
    inSimLoop([]() -> Future<Void> {
        HalfSocket socket = halfSocket({.largestMessage = 1u << 30});
        std::int64_t before = memory::totalStatistics().live();
        co_await socket.client->write("\x82\xFF\x00\x00\x00\x00\x3F\xFF\xFF\xFFmaskonly this"_sr);
        for (int i = 0; i < 10; ++i)
            co_await yield();
        CHECK(memory::totalStatistics().live() - before < 10);
        HalfSocket other = halfSocket();
        std::string empty = clientText("", false);
        for (int i = 0; i < 1000; ++i)
            empty += clientMore("", false);
        std::string more = empty.substr(6);
        for (int i = 0; i < 20; ++i) {
            StringRef next(i == 0 ? empty
                                  : more); // a variable, since gcc 12 destroys twice what ?: makes in a co_await
            co_await other.client->write(next);
        }
        co_await other.client->write(StringRef(clientMore("end")));
        WebSocketMessage message = co_await other.server->receive();
        CHECK(message.data == "end");
    });
}

TEST_CASE("WebSocket: a receive that loses has taken nothing, and several are served in order") {
    inSimLoop([]() -> Future<Void> {
        TwoSockets both = twoSockets();
        Future<Void> sending = [](Reference<WebSocket> to) -> Future<Void> {
            for (int i = 0; i < 100; ++i) {
                co_await to->sendText(std::to_string(i));
                co_await delay(0.3);
            }
            co_await to->close();
        }(both.client);
        int next = 0;
        for (;;) {
            ErrorOr<Void> ended;
            try {
                auto first = co_await race(both.server->receive(), delay(0.2));
                if (first.index() == 0)
                    CHECK(std::get<0>(first).data == std::to_string(next++));
            } catch (Error& error) {
                CHECK(error == end_of_stream());
                break;
            }
        }
        CHECK(next == 100);
        co_await sending;
    });
    inSimLoop([]() -> Future<Void> {
        TwoSockets both = twoSockets();
        Future<WebSocketMessage> first = keep(both.server->receive()), second = keep(both.server->receive()),
                                 third = keep(both.server->receive());
        second = Future<WebSocketMessage>();
        for (char const* each : {"1", "2"})
            co_await both.client->sendText(each);
        WebSocketMessage one = co_await first, two = co_await third;
        CHECK(one.data + two.data == "12");
    });
}

TEST_CASE("WebSocket: every cancel of receive, send and close") {
    auto pair = [](Inputs& in) -> TwoSockets& {
        auto& both = in.keep<TwoSockets>(twoSockets());
        in.onStep([&both] { both.client->sendText("x"); });
        in.onStep([&both] { both.client->close(); });
        return both;
    };
    Traits traits{.hasHandlers = true}; // the end of a connection is an exception of its read
    cancelEverywhere("WebSocket::receive", [&](Inputs& in) { return keep(pair(in).server->receive()); }, traits);
    cancelEverywhere(
        "WebSocket::send", [&](Inputs& in) { return Future<Void>(pair(in).server->sendText("y")); }, traits);
    cancelEverywhere("WebSocket::close", [&](Inputs& in) { return keep(pair(in).server->close()); }, traits);
}

TEST_CASE("WebSocket: wrong options and misuse are named") {
    SimLoop loop;
    auto sentence = [](WebSocketOptions const& options) {
        try {
            (void)makeReference<WebSocket>(connectionPair().first, WebSocket::Side::Server, options);
        } catch (Error& error) {
            CHECK(error == invalid_option_value());
            return std::string(error.what());
        }
        return ""s;
    };
    CHECK(sentence({}).empty());
    CHECK(sentence({.largestMessage = 0}) == "WebSocketOptions: largestMessage is 0; it must be at least 1");
    CHECK(sentence({.pingEvery = -1}) == "WebSocketOptions: pingEvery is -1; it must not be negative");
    CHECK(sentence({.pongWithin = 0}) == "WebSocketOptions: pongWithin is 0; it must be more than 0");
    CHECK(sentence({.closeWithin = 0}) == "WebSocketOptions: closeWithin is 0; it must be more than 0");
    TwoSockets both = twoSockets();
    Error notText = loop.run(endOf(Future<Void>(both.client->sendText("\xFF"))));
    CHECK(notText == client_invalid_operation());
    CHECK(std::string(notText.what()) == "WebSocket: a text to send is not UTF-8; sendBinary() takes it");
    loop.run(Future<Void>(both.client->sendBinary("\xFF")));
}
