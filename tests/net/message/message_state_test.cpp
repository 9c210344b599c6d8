// What the options of message sockets do, and what happens to messages when connections break.

#include "net/message/detail/message_state.h"

#include "flow/core/stream.h"
#include "flow/coro/coroutine.h"
#include "flow/wait/delay.h"
#include "net/transport.h"
#include "tests/net/message/on_loop.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

using namespace flow;
using namespace flow::net;

namespace {

MessageOptions named(std::string name) {
    MessageOptions options;
    options.routingId = std::move(name);
    options.reconnectIvl = 0.01;
    return options;
}

} // namespace

TEST_CASE("message state: inproc, bound before or after, copies nothing") {
    runOnLoop([]() -> Future<Void> {
        MessageSocket early(SocketType::Dealer, named("early"));
        early.connect("inproc://service");
        co_await delay(0.01);
        MessageSocket router(SocketType::Router);
        CHECK(router.bind("inproc://service") == "inproc://service");
        MessageSocket late(SocketType::Dealer, named("late"));
        late.connect("inproc://service");
        co_await until(router, 2);
        Message message(std::string(100'000, 'x'));
        char const* place = message[0].data();
        co_await late.send(message);
        Message request = co_await router.receive();
        CHECK(request.routingId() == "late");
        CHECK(request[0].data() == place);
        co_await router.send(request);
        CHECK((co_await late.receive())[0].data() == place);
        co_await router.sendBytesTo("early", "hello");
        CHECK((co_await early.receive())[0] == "hello");
        MessageSocket second(SocketType::Router);
        CHECK_THROWS_AS(second.bind("inproc://service"), Error);
    });
}

TEST_CASE("message state: inproc carries requests, subscriptions and its end") {
    runOnLoop([]() -> Future<Void> {
        MessageSocket rep(SocketType::Rep), req(SocketType::Req);
        rep.bind("inproc://rep");
        req.connect("inproc://rep");
        co_await req.send("question");
        CHECK((co_await rep.receive())[0] == "question");
        co_await rep.send("answer");
        CHECK((co_await req.receive())[0] == "answer");
        auto pub = std::make_unique<MessageSocket>(SocketType::XPub);
        pub->bind("inproc://pub");
        MessageSocket sub(SocketType::Sub, named(""));
        sub.subscribe("b");
        sub.connect("inproc://pub");
        CHECK((co_await pub->receive())[0] == "\1b");
        co_await pub->send("a1");
        co_await pub->send("b2");
        CHECK((co_await sub.receive())[0] == "b2");
        pub = nullptr;
        co_await until(sub, 0);
        pub = std::make_unique<MessageSocket>(SocketType::XPub);
        pub->bind("inproc://pub");
        CHECK((co_await pub->receive())[0] == "\1b");
    });
}

TEST_CASE("message state: with conflate only the last message is kept") {
    runOnLoop([]() -> Future<Void> {
        MessageOptions last;
        last.conflate = true;
        MessageSocket pull(SocketType::Pull, last), push(SocketType::Push);
        push.connect(pull.bind(kAnywhere));
        for (int i = 0; i <= 100; ++i)
            co_await push.send(std::to_string(i));
        while (pull.counters().discarded < 100)
            co_await delay(0.001);
        CHECK((co_await pull.receive())[0] == "100");
        co_await push.send("next");
        CHECK((co_await pull.receive())[0] == "next");
        CHECK(pull.counters().received == 2);

        MessageSocket sink(SocketType::Pull), source(SocketType::Push, last);
        source.connect("tcp://127.0.0.1:1");
        for (int i = 0; i < 10; ++i)
            co_await source.send(std::to_string(i));
        CHECK(source.counters().dropped == 9);
        source.connect(sink.bind(kAnywhere));
        co_await source.send("a");
        co_await source.send("b");
    });
}

TEST_CASE("message state: immediate, mandatory, handover") {
    runOnLoop([]() -> Future<Void> {
        MessageOptions immediate = named("");
        immediate.immediate = true;
        MessageSocket push(SocketType::Push, immediate);
        push.connect("tcp://127.0.0.1:1");
        Message message("x");
        CHECK_FALSE(push.trySend(message));
        CHECK(message[0] == "x");

        MessageOptions strict;
        strict.routerMandatory = true;
        MessageSocket router(SocketType::Router, strict);
        std::string endpoint = router.bind(kAnywhere);
        CHECK((co_await tryGet(router.send(Message::to("ann").add("x")))).isError(error_code_host_unreachable));
        MessageSocket ann(SocketType::Dealer, named("ann")), other(SocketType::Dealer, named("ann"));
        ann.connect(endpoint);
        co_await until(router, 1);
        co_await router.sendBytesTo("ann", "hello");
        CHECK((co_await ann.receive())[0] == "hello");
        other.connect(endpoint);
        while (router.counters().refused == 0)
            co_await delay(0.001);
        CHECK(router.counters().lastFault == zmtp::Fault::IdentityInUse);
        CHECK(router.peers() == 1);

        MessageOptions handover;
        handover.routerHandover = true;
        MessageSocket second(SocketType::Router, handover);
        endpoint = second.bind(kAnywhere);
        auto old = std::make_unique<MessageSocket>(SocketType::Dealer, named("bob"));
        old->connect(endpoint);
        co_await old->send("old");
        CHECK((co_await second.receive())[0] == "old");
        MessageSocket fresh(SocketType::Dealer, named("bob"));
        fresh.connect(endpoint);
        co_await fresh.send("new");
        CHECK((co_await second.receive())[0] == "new");
        co_await second.sendBytesTo("bob", "to the new one");
        CHECK((co_await fresh.receive())[0] == "to the new one");
    });
}

TEST_CASE("message state: the marks in bytes and in messages bound what is accepted") {
    runOnLoop([]() -> Future<Void> {
        MessageOptions options;
        options.sndHwmBytes = 100'000;
        options.sndHwm = 0;
        MessageSocket push(SocketType::Push, options);
        push.connect("tcp://127.0.0.1:1"); // no peer
        int accepted = 0;
        for (Message message(std::string(1000, 'x')); push.trySend(message); message = Message(std::string(1000, 'x')))
            ++accepted;
        CHECK(accepted == 100); // 1009 bytes each
        options.sndHwm = 7;
        MessageSocket few(SocketType::Push, options);
        few.connect("tcp://127.0.0.1:1");
        accepted = 0;
        for (Message message("x"); few.trySend(message); message = Message("x"))
            ++accepted;
        CHECK(accepted == 7);
        co_return;
    });
}

TEST_CASE("message state: a receiver that stalls loses nothing, of many sizes, and bounds what is accepted") {
    runOnLoop([]() -> Future<Void> {
        MessageOptions options;
        options.sndHwmBytes = 256 * 1024;
        options.sndBuf = options.rcvBuf = 64 * 1024;
        MessageSocket router(SocketType::Router, options), dealer(SocketType::Dealer, options);
        dealer.connect(router.bind(kAnywhere));
        constexpr int kMessages = 3000;
        std::uint64_t accepted = 0;
        int sent = 0;
        auto sizeOf = [](int i) { return static_cast<std::size_t>(i % 50 == 0 ? 70'000 : i % 700); };
        auto sendAll = [&]() -> Future<Void> {
            for (; sent < kMessages; ++sent) {
                Message message(std::to_string(sent));
                message.add(std::string(sizeOf(sent), 'x'));
                std::size_t bytes = message.wire().size();
                co_await dealer.send(message);
                accepted += bytes;
            }
        };
        Future<Void> sending = sendAll();
        co_await delay(0.2);
        CHECK_FALSE(sending.isReady());
        CHECK(accepted < 1'500'000); // the mark, the machine's buffers, two slabs and a message
        for (int i = 0; i < kMessages; ++i) {
            Message message = co_await router.receive();
            REQUIRE(message[0] == std::to_string(i));
            REQUIRE(message[1].size() == sizeOf(i));
        }
        co_await sending;
        CHECK(router.counters().received == kMessages);
        CHECK(dealer.counters().sent == kMessages);
        CHECK(dealer.counters().dropped == 0);
        CHECK(router.counters().calls.emptyReads == 0);
    });
}

TEST_CASE("message state: a PING is answered although a message in front of it waits") {
    runOnLoop([]() -> Future<Void> {
        MessageOptions beating = named("");
        beating.heartbeatIvl = 0.02;
        beating.heartbeatTimeout = 0.06;
        MessageSocket dealer(SocketType::Dealer, beating), router(SocketType::Router);
        dealer.connect(router.bind(kAnywhere));
        co_await dealer.send("nobody receives this for long");
        co_await delay(0.4);
        CHECK(dealer.counters().connected == 1);
        CHECK(dealer.counters().disconnected == 0);
        CHECK((co_await router.receive())[0].size() == 29);
    });
}

TEST_CASE("message state: after a receive() too, PINGs are answered and the end of a connection is noticed") {
    runOnLoop([]() -> Future<Void> {
        MessageOptions beating = named("");
        beating.heartbeatIvl = 0.02;
        beating.heartbeatTimeout = 0.06;
        auto dealer = std::make_unique<MessageSocket>(SocketType::Dealer, beating);
        MessageSocket router(SocketType::Router);
        dealer->connect(router.bind(kAnywhere));
        co_await dealer->send("work for long");
        CHECK((co_await router.receive())[0] == "work for long");
        co_await delay(0.4);
        CHECK(dealer->counters().connected == 1);
        CHECK(dealer->counters().disconnected == 0);
        co_await dealer->send("meanwhile");
        dealer = nullptr;
        co_await until(router, 0);
        CHECK((co_await router.receive())[0] == "meanwhile");
    });
}

TEST_CASE("message state: a peer that does not answer a PING is disconnected") {
    runOnLoop([]() -> Future<Void> {
        MessageOptions beating;
        beating.heartbeatIvl = 0.02;
        MessageSocket pull(SocketType::Pull, beating);
        std::string endpoint = pull.bind(kAnywhere);
        Reference<Connection> silent = co_await transport().connect(*Address::parse(endpoint.substr(6)));
        std::string hello, data;
        zmtp::appendGreeting(hello, "NULL", false);
        zmtp::appendProperty(data, "Socket-Type", "PUSH");
        zmtp::appendCommand(hello, "READY", data);
        co_await silent->write(StringRef(hello));
        while (pull.counters().disconnected == 0)
            co_await delay(0.001);
        CHECK(pull.counters().lastFault == zmtp::Fault::HeartbeatTimedOut);
    });
}

TEST_CASE("message state: monitor events say what happens to connections") {
    runOnLoop([]() -> Future<Void> {
        using Kind = MonitorEvent::Kind;
        MessageSocket push(SocketType::Push, named(""));
        auto pull = std::make_unique<MessageSocket>(SocketType::Pull);
        FutureStream<MonitorEvent> theirs = pull->monitor(), ours = push.monitor();
        std::string endpoint = pull->bind(kAnywhere);
        push.connect(endpoint);
        constexpr Kind kExpected[] = {Kind::Listening, Kind::Accepted, Kind::HandshakeSucceeded};
        for (Kind kind : kExpected) {
            MonitorEvent event = co_await theirs;
            CHECK(event.kind == kind);
        }
        for (int i = 0; i < 2; ++i) {
            MonitorEvent event = co_await ours;
            CHECK(event.kind == (i == 0 ? Kind::Connected : Kind::HandshakeSucceeded));
            CHECK(event.endpoint == endpoint);
        }
        pull = nullptr;
        MonitorEvent event = co_await ours;
        CHECK(event.kind == Kind::Disconnected);
        event = co_await ours;
        CHECK(event.kind == Kind::ConnectRetried);
    });
}

TEST_CASE(
    "message state: closing loses nothing that the other side has not read, although there is something unread here") {
    runOnLoop([]() -> Future<Void> {
        MessageSocket router(SocketType::Router);
        auto dealer = std::make_unique<MessageSocket>(SocketType::Dealer, named("me"));
        dealer->connect(router.bind(kAnywhere));
        co_await dealer->send("first");
        (void)co_await router.receive();
        for (int i = 0; i < 500; ++i)
            co_await router.sendBytesTo("me", std::string(200, 'r')); // which it never receives
        for (int i = 0; i < 500; ++i)
            co_await dealer->send(std::string(200, 'd'));
        Future<Void> closing = dealer->close(10);
        for (int i = 0; i < 500; ++i)
            CHECK((co_await router.receive())[0].size() == 200);
        co_await closing;
    });
}

TEST_CASE("message state: senders to one full peer do not hold up those to another, nor what breaks one the waiting") {
    runOnLoop([]() -> Future<Void> {
        MessageOptions options;
        options.sndHwm = 4;
        options.sndHwmBytes = 100'000;
        MessageSocket router(SocketType::Router, options);
        std::string endpoint = router.bind(kAnywhere);
        MessageOptions few = named("full");
        few.rcvHwm = 1; // it reads no more than that: the rest stays with the router
        auto full = std::make_unique<MessageSocket>(SocketType::Dealer, few);
        MessageSocket other(SocketType::Dealer, named("other"));
        full->connect(endpoint);
        other.connect(endpoint);
        co_await until(router, 2);
        std::string body(200'000, 'x');
        for (Message message = Message::to("full").add(body); router.trySend(message);)
            message = Message::to("full").add(body);
        std::vector<Future<Void>> late;
        for (int i = 0; i < 10; ++i)
            late.push_back(router.send(Message::to("full").add(body)));
        CHECK_FALSE(late[0].isReady());
        co_await router.send(Message::to("other").add("now"));
        CHECK((co_await other.receive())[0] == "now");
        std::uint64_t before = router.counters().dropped;
        full = nullptr;
        for (Future<Void>& each : late)
            co_await each; // to no peer
        CHECK(router.counters().dropped > before);
    });
}

// -------------------------------------------------------------------------------------------------------------------
// The rows of the table "What is lost, and when" of net/docs/messages.md

namespace {

/// So small that a stalled peer is soon seen.
MessageOptions narrow() {
    MessageOptions options = named("");
    options.sndHwm = options.rcvHwm = 4;
    options.sndBuf = options.rcvBuf = 4096;
    return options;
}

/// Sends until it would wait. How many were accepted.
std::uint64_t fill(MessageSocket& socket) {
    std::string body(20'000, 'x');
    std::uint64_t accepted = 0;
    for (Message message(body); socket.trySend(message); message = Message(body))
        ++accepted;
    return accepted;
}

} // namespace

TEST_CASE("message state: of types that connect, what waits goes to the next connection, and nothing is counted") {
    runOnLoop([]() -> Future<Void> {
        for (SocketType type : {SocketType::Push, SocketType::Dealer, SocketType::Pair}) {
            SocketType other = type == SocketType::Push ? SocketType::Pull : type;
            auto receiver = std::make_unique<MessageSocket>(other, narrow());
            MessageSocket sender(type, narrow());
            std::string endpoint = receiver->bind(kAnywhere);
            sender.connect(endpoint);
            co_await until(sender, 1);
            std::uint64_t accepted = fill(sender);
            CHECK(accepted >= 4);
            receiver = nullptr;
            co_await until(sender, 0);
            CHECK(sender.counters().dropped == 0);
            CHECK(sender.counters().disconnected == 1);
            receiver = std::make_unique<MessageSocket>(other, narrow());
            receiver->bind(endpoint);
            for (int i = 0; i < 4; ++i) // no more than wait
                CHECK((co_await receiver->receive())[0].size() == 20'000);
            CHECK(sender.counters().dropped == 0);
        }
    });
}

TEST_CASE("message state: of types that bind, what waits for a peer ends with its connection, and is counted") {
    runOnLoop([]() -> Future<Void> {
        for (SocketType type : {SocketType::Push, SocketType::Dealer, SocketType::Pair}) {
            SocketType other = type == SocketType::Push ? SocketType::Pull : type;
            MessageSocket sender(type, narrow());
            auto receiver = std::make_unique<MessageSocket>(other, narrow());
            receiver->connect(sender.bind(kAnywhere));
            co_await until(sender, 1);
            std::uint64_t accepted = fill(sender);
            CHECK(sender.counters().dropped == 0);
            receiver = nullptr;
            co_await until(sender, 0);
            CHECK(sender.counters().dropped >= 4);
            CHECK(sender.counters().dropped <= accepted);
            CHECK(sender.counters().sent == accepted);
        }
    });
}

TEST_CASE("message state: an answer without a requester, and a request without an answer, are counted") {
    runOnLoop([]() -> Future<Void> {
        auto rep = std::make_unique<MessageSocket>(SocketType::Rep);
        MessageSocket req(SocketType::Req, named(""));
        std::string endpoint = rep->bind(kAnywhere);
        req.connect(endpoint);
        co_await req.send("lost");
        CHECK((co_await rep->receive())[0] == "lost");
        Future<Message> reply = keep(req.receive());
        rep = nullptr;
        CHECK((co_await tryGet(reply)).isError(error_code_client_invalid_operation));
        CHECK(req.counters().lostReplies == 1);
        CHECK(req.counters().dropped == 0);
        rep = std::make_unique<MessageSocket>(SocketType::Rep);
        rep->bind(endpoint);
        co_await req.send("again");
        CHECK((co_await rep->receive())[0] == "again");
        co_await rep->send("answer");
        CHECK((co_await req.receive())[0] == "answer");
        CHECK(req.counters().lostReplies == 1);

        auto gone = std::make_unique<MessageSocket>(SocketType::Req, named(""));
        gone->connect(endpoint);
        co_await gone->send("and goes");
        CHECK((co_await rep->receive())[0] == "and goes");
        gone = nullptr;
        co_await until(*rep, 1);
        co_await rep->send("nobody");
        CHECK(rep->counters().dropped == 1);
    });
}

TEST_CASE("message state: what a slow subscriber misses is counted, and its subscriptions are sent again") {
    runOnLoop([]() -> Future<Void> {
        auto pub = std::make_unique<MessageSocket>(SocketType::XPub, narrow());
        MessageSocket sub(SocketType::Sub, narrow());
        std::string endpoint = pub->bind(kAnywhere);
        sub.subscribe("x");
        sub.connect(endpoint);
        CHECK((co_await pub->receive())[0] == "\1x");
        std::string body(20'000, 'x');
        std::uint64_t missed = 0;
        for (int i = 0; i < 100; ++i) {
            Message message(body);
            CHECK(pub->trySend(message)); // it never waits
        }
        missed = pub->counters().dropped;
        CHECK(missed > 0);
        CHECK(pub->counters().sent == 100);
        for (std::uint64_t i = missed; i < 100; ++i)
            CHECK((co_await sub.receive())[0].size() == body.size());
        CHECK(pub->counters().dropped == missed);
        pub = nullptr;
        co_await until(sub, 0);
        CHECK(sub.counters().disconnected == 1);
        pub = std::make_unique<MessageSocket>(SocketType::XPub);
        pub->bind(endpoint);
        CHECK((co_await pub->receive())[0] == "\1x");
        co_await pub->send("y: other topics are not sent");
        co_await pub->send("x again");
        CHECK((co_await sub.receive())[0] == "x again");
        CHECK(pub->counters().dropped == 0);
    });
}

TEST_CASE("message state: what has come before the end of a connection is still received") {
    runOnLoop([]() -> Future<Void> {
        MessageSocket pull(SocketType::Pull);
        auto push = std::make_unique<MessageSocket>(SocketType::Push);
        push->connect(pull.bind(kAnywhere));
        co_await until(*push, 1);
        for (int i = 0; i < 10; ++i)
            co_await push->send(std::to_string(i));
        Future<Void> closed = push->close(10);
        co_await until(pull, 0);
        for (int i = 0; i < 10; ++i)
            CHECK((co_await pull.receive())[0] == std::to_string(i));
        co_await closed;
        CHECK(push->counters().dropped == 0);
    });
}

TEST_CASE("message socket: adaptive reads of round trips become one receive each, and none in vain") {
    runOnLoop([]() -> Future<Void> {
        constexpr int kTrips = 10'000;
        MessageSocket router(SocketType::Router), dealer(SocketType::Dealer);
        dealer.connect(router.bind(kAnywhere));
        co_await until(dealer, 1);
        for (int i = 0; i < kTrips; ++i) {
            co_await dealer.send(Message("question"));
            Message question = co_await router.receive();
            co_await router.send(question);
            (void)co_await dealer.receive();
        }
        for (MessageSocket* each : {&router, &dealer}) {
            SocketCounters calls = each->counters().calls;
            CHECK(calls.reads <= kTrips * 101 / 100);
            CHECK(calls.emptyReads <= 1);
        }
    });
}

TEST_CASE("message state: trySend() and send() of a message do not overtake a sender that waits") {
    runOnLoop([]() -> Future<Void> {
        MessageSocket push(SocketType::Push, narrow()), pull(SocketType::Pull, narrow());
        push.connect(pull.bind(kAnywhere));
        co_await until(push, 1);
        std::uint64_t accepted = fill(push);
        Future<Void> oldest = push.send("oldest");
        CHECK_FALSE(oldest.isReady());
        while ((co_await pull.receive())[0] != "oldest") { // there is room now and then
            Message later("later");
            if (!oldest.isReady())
                CHECK_FALSE(push.trySend(later));
            --accepted;
        }
        CHECK(accepted == 0);
    });
}

TEST_CASE("message state: trySend() fails where send() does, and says where it would wait") {
    runOnLoop([]() -> Future<Void> {
        for (SocketType type : {SocketType::Pull, SocketType::Sub, SocketType::Rep}) {
            MessageSocket socket(type);
            Message message("x");
            CHECK_THROWS_AS(socket.trySend(message), Error);
            CHECK(message[0] == "x");
        }
        for (SocketType type : {SocketType::Push, SocketType::Dealer, SocketType::Req, SocketType::Pair}) {
            MessageSocket socket(type); // without a peer
            Message message("x");
            CHECK_FALSE(socket.trySend(message));
            CHECK(message[0] == "x");
            Message empty;
            CHECK_THROWS_AS(socket.trySend(empty), Error);
        }
        for (SocketType type : {SocketType::Pub, SocketType::XPub, SocketType::Router, SocketType::XSub}) {
            MessageSocket socket(type);
            Message message("x");
            CHECK(socket.trySend(message)); // to all peers that there are
            CHECK(message.isEmpty());
        }
        return Void();
    });
}
