#include "net/message/message_socket.h"

#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/loop.h"
#include "flow/wait/delay.h"
#include "net/transport.h"
#include "tests/flow/support/pending_text.h"
#include "tests/net/message/on_loop.h"

#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

using namespace flow;
using namespace flow::net;

namespace {

std::string textOf(Message const& message) {
    std::string text;
    for (std::string_view part : message)
        text.append(text.empty() ? "" : "|").append(part);
    return text;
}

/// No initializer list, of which gcc 12 makes an error in a coroutine.
template <class... Texts>
Message parts(Texts const&... texts) {
    Message message;
    (message.add(texts), ...);
    return message;
}

} // namespace

TEST_CASE("message socket: ROUTER and DEALER, in either order of bind and connect") {
    runOnLoop([]() -> Future<Void> {
        MessageOptions named;
        named.routingId = "ann";
        MessageSocket router(SocketType::Router), dealer(SocketType::Dealer, named);
        dealer.connect(router.bind(kAnywhere));
        co_await dealer.send(parts("one", "", "two"));
        Message request = co_await router.receive();
        CHECK(request.routingId() == "ann");
        CHECK(textOf(request) == "one||two");
        co_await router.send(request);
        CHECK(request.isEmpty());
        CHECK(textOf(co_await dealer.receive()) == "one||two");
        CHECK(router.peers() == 1);
        Message lost = Message::to("nobody");
        co_await router.send(lost.add("x"));
        CHECK(router.counters().dropped == 1);
    });
}

TEST_CASE("message socket: connects to an address or to a name, never to both") {
    static int dropped = 0;
    DroppedErrorHandler before = setDroppedErrorHandler([](const char*, Error) { ++dropped; });
    runOnLoop([]() -> Future<Void> {
        MessageSocket pull(SocketType::Pull), byAddress(SocketType::Push), byName(SocketType::Push);
        std::string endpoint = pull.bind(kAnywhere);
        byAddress.connect(endpoint);
        byName.connect("tcp://localhost" + endpoint.substr(endpoint.rfind(':')));
        co_await byAddress.send("a");
        co_await byName.send("b");
        co_await pull.receive();
        co_await pull.receive();
        CHECK(pull.peers() == 2);
        CHECK(pull.counters().connected == 2);
    });
    CHECK(dropped == 0);
    setDroppedErrorHandler(before);
}

TEST_CASE("message socket: REQ and REP take turns") {
    runOnLoop([]() -> Future<Void> {
        MessageSocket rep(SocketType::Rep), req(SocketType::Req);
        req.connect(rep.bind(kAnywhere));
        for (int i = 0; i < 3; ++i) {
            co_await req.send("question " + std::to_string(i));
            CHECK((co_await tryGet(req.send("again"))).isError(error_code_client_invalid_operation));
            CHECK(textOf(co_await rep.receive()) == "question " + std::to_string(i));
            co_await rep.send("answer");
            CHECK((co_await tryGet(rep.send("again"))).isError(error_code_client_invalid_operation));
            CHECK(textOf(co_await req.receive()) == "answer");
        }
        CHECK((co_await tryGet(keep(req.receive()))).isError(error_code_client_invalid_operation));
    });
}

TEST_CASE("message socket: PUB sends to subscribers; XPUB receives the subscriptions") {
    runOnLoop([]() -> Future<Void> {
        MessageSocket pub(SocketType::XPub), sub(SocketType::Sub);
        sub.subscribe("b");
        sub.connect(pub.bind(kAnywhere));
        CHECK(textOf(co_await pub.receive()) == "\1b");
        for (char const* text : {"a1", "b2", "c3", "b4"})
            co_await pub.send(text);
        CHECK(textOf(co_await sub.receive()) == "b2");
        CHECK(textOf(co_await sub.receive()) == "b4");
        sub.unsubscribe("b");
        CHECK(textOf(co_await pub.receive()) == std::string("\0b", 2));
        co_await pub.send("b5");
        sub.subscribe("");
        CHECK(textOf(co_await pub.receive()) == "\1");
        co_await pub.send("z6");
        CHECK(textOf(co_await sub.receive()) == "z6");
    });
}

TEST_CASE("message socket: PUSH shares out, PULL collects, and a receive that loses has taken nothing") {
    runOnLoop([]() -> Future<Void> {
        MessageSocket push(SocketType::Push), a(SocketType::Pull), b(SocketType::Pull);
        push.connect(a.bind(kAnywhere));
        push.connect(b.bind(kAnywhere));
        for (int i = 0; i < 10; ++i)
            co_await push.send(std::to_string(i));
        int fromA = 0;
        for (int i = 0; i < 10; ++i)
            fromA += (co_await race(a.receive(), b.receive())).index() == 0;
        CHECK(fromA == 5);
        Future<Message> next = keep(a.receive());
        std::string report = flow::test::pendingText();
        CHECK_MESSAGE(flow::test::has(report, "waits for a message at a PULL bound to 127.0.0.1:"), report);
        CHECK_MESSAGE(flow::test::has(report, " with 1 peer: tcp://127.0.0.1:"), report);
        next = Future<Message>();
        auto nothing = co_await race(a.receive(), b.receive(), delay(0.01));
        CHECK(nothing.index() == 2);
        co_await push.send("last");
        co_await delay(0.05);
        auto lost = co_await race(Future<Void>(Void()), a.receive(), b.receive());
        CHECK(lost.index() == 0);
        auto last = co_await race(a.receive(), b.receive());
        CHECK(textOf(last.index() == 0 ? std::get<0>(last) : std::get<1>(last)) == "last");
    });
}

TEST_CASE("message socket: nothing that was accepted is lost when the receiver stalls, and memory stays bounded") {
    runOnLoop([]() -> Future<Void> {
        MessageSocket push(SocketType::Push), pull(SocketType::Pull);
        std::string endpoint = pull.bind(kAnywhere);
        push.connect(endpoint);
        constexpr int kMessages = 20'000;
        int accepted = 0;
        auto sendAll = [&]() -> Future<Void> {
            for (; accepted < kMessages; ++accepted)
                co_await push.send(parts(std::to_string(accepted), std::string(2000, 'x')));
        };
        Future<Void> sending = sendAll();
        co_await delay(0.3); // nothing is received
        CHECK(!sending.isReady());
        std::string report = flow::test::pendingText();
        CHECK_MESSAGE(flow::test::has(report, "waits for room for a message at a PUSH with 1 peer: " + endpoint + " ("),
                      report);
        CHECK(flow::test::has(report, " unsent)\n"));
        int stalledAt = accepted;
        CHECK(stalledAt >= 1000);
        CHECK(stalledAt < 15'000);
        co_await delay(0.1);
        CHECK(accepted == stalledAt);
        Message none = parts("none");
        CHECK_FALSE(push.trySend(none));
        CHECK(textOf(none) == "none");
        for (int i = 0; i < kMessages; ++i) {
            Message message = co_await pull.receive();
            REQUIRE(message[0] == std::to_string(i));
            REQUIRE(message[1].size() == 2000);
        }
        co_await sending;
    });
}

TEST_CASE("message socket: connects again, and what still waited goes to the next connection") {
    runOnLoop([]() -> Future<Void> {
        auto pull = std::make_unique<MessageSocket>(SocketType::Pull);
        MessageSocket push(SocketType::Push);
        std::string endpoint = pull->bind(kAnywhere);
        push.connect(endpoint);
        co_await push.send("first");
        CHECK(textOf(co_await pull->receive()) == "first");
        pull = nullptr;
        while (push.peers() != 0)
            co_await delay(0.001);
        co_await push.send("second");
        pull = std::make_unique<MessageSocket>(SocketType::Pull);
        pull->bind(endpoint);
        CHECK(textOf(co_await pull->receive()) == "second");
        CHECK(push.counters().connected == 2);
    });
}

TEST_CASE("message socket: peers with another protocol are refused, and counted by reason") {
    runOnLoop([]() -> Future<Void> {
        MessageOptions options;
        options.limits.messageBytes = 1000;
        options.handshakeIvl = 0.05;
        MessageSocket pull(SocketType::Pull, options);
        std::string endpoint = pull.bind(kAnywhere);
        Address address = *Address::parse(endpoint.substr(6));
        auto expect = [&](std::string bytes, zmtp::Fault fault) -> Future<Void> {
            std::uint64_t before = pull.counters().refused;
            Reference<Connection> peer = co_await transport().connect(address);
            if (!bytes.empty())
                co_await peer->write(StringRef(bytes));
            while (pull.counters().refused == before)
                co_await delay(0.001);
            CHECK(pull.counters().lastFault == fault);
        };
        std::string greeting;
        zmtp::appendGreeting(greeting, "NULL", false);
        auto ready = [&](std::string_view type) {
            std::string data, out = greeting;
            zmtp::appendProperty(data, "Socket-Type", type);
            zmtp::appendCommand(out, "READY", data);
            return out;
        };
        std::string large = ready("PUSH");
        zmtp::appendFrameHeader(large, 1001, {});
        co_await expect("GET / HTTP/1.1\r\n", zmtp::Fault::BadSignature);
        co_await expect(ready("PUB"), zmtp::Fault::BadSocketType);
        co_await expect(large, zmtp::Fault::MessageTooLarge);
        co_await expect(greeting + "\x01\x01x", zmtp::Fault::BadCommand);
        co_await expect(greeting.substr(0, 30), zmtp::Fault::HandshakeTimedOut);
        co_await expect("", zmtp::Fault::HandshakeTimedOut);
        MessageSocket push(SocketType::Push);
        push.connect(endpoint);
        co_await push.send("still here");
        CHECK(textOf(co_await pull.receive()) == "still here");
        CHECK(pull.counters().connected == 2); // one has sent too much after its handshake
    });
}

TEST_CASE("message socket: close() sends what waits, and drops it after the linger") {
    runOnLoop([]() -> Future<Void> {
        MessageSocket pull(SocketType::Pull);
        std::string endpoint = pull.bind(kAnywhere);
        {
            MessageSocket push(SocketType::Push);
            push.connect(endpoint);
            for (int i = 0; i < 100; ++i)
                co_await push.send(std::to_string(i));
            co_await push.close(10);
        }
        for (int i = 0; i < 100; ++i)
            CHECK(textOf(co_await pull.receive()) == std::to_string(i));
        MessageSocket nobody(SocketType::Push);
        nobody.connect("tcp://127.0.0.1:1");
        co_await nobody.send("lost");
        double before = now();
        co_await nobody.close(0.02);
        CHECK(now() - before >= 0.02);
        CHECK(nobody.counters().dropped == 1);
    });
}
