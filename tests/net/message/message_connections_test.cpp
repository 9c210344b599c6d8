// Hostile peers, silent ones, those of the same loop, and the credentials that may connect.

#include "net/message/detail/message_state.h"

#include "flow/combine/race.h"
#include "flow/core/stream.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/loop.h"
#include "flow/wait/delay.h"
#include "net/transport.h"
#include "tests/net/message/on_loop.h"
#include "tests/net/message/raw_peer.h"

#include <doctest/doctest.h>

#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

using namespace flow;
using namespace flow::net;

TEST_CASE("message connections: the marks hold for inproc, and a sender goes on when there is room") {
    runOnLoop([]() -> Future<Void> {
        MessageOptions options;
        options.sndHwm = 5;
        options.sndHwmBytes = 10'000;
        MessageSocket pull(SocketType::Pull), push(SocketType::Push, options);
        push.connect(pull.bind("inproc://marks"));
        co_await until(push, 1);
        static constexpr std::size_t kSizes[] = {1, 4000}; // gcc 12 does not keep a braced list
        for (std::size_t size : kSizes) {
            std::string body(size, 'x');
            int accepted = 0;
            for (Message message(body); push.trySend(message); message = Message(body))
                ++accepted;
            CHECK(accepted == (size == 1 ? 5 : 3));
            Future<Void> waits = push.send(body);
            CHECK_FALSE(waits.isReady());
            CHECK((co_await pull.receive())[0] == body);
            co_await waits;
            for (int i = 0; i < accepted; ++i)
                CHECK((co_await pull.receive())[0] == body);
        }
    });
}

TEST_CASE("message connections: what was sent to an inproc endpoint before it was bound arrives") {
    runOnLoop([]() -> Future<Void> {
        MessageOptions options;
        options.reconnectIvl = 0.01;
        options.sndHwm = 5;
        MessageSocket push(SocketType::Push, options), req(SocketType::Req, options);
        push.connect("inproc://later");
        req.connect("inproc://later too");
        co_await req.send("question");
        int accepted = 0;
        for (Message message(std::to_string(0)); push.trySend(message); message = Message(std::to_string(accepted)))
            ++accepted;
        CHECK(accepted == 5);
        Future<Void> waits = push.send("5");
        CHECK_FALSE(waits.isReady());
        for (int i = 0; i < 2; ++i) { // also after the other side has gone
            MessageSocket pull(SocketType::Pull);
            pull.bind("inproc://later");
            for (int number = 0; i == 0 && number < 6; ++number)
                CHECK((co_await pull.receive())[0] == std::to_string(number));
            co_await push.send("again");
            CHECK((co_await pull.receive())[0] == "again");
        }
        MessageSocket rep(SocketType::Rep);
        rep.bind("inproc://later too");
        CHECK((co_await rep.receive())[0] == "question");
        CHECK(push.counters().dropped == 0);
    });
}

TEST_CASE("message connections: a ROUTER refuses a second inproc peer with the same routing id") {
    runOnLoop([]() -> Future<Void> {
        MessageOptions named;
        named.routingId = "ann";
        named.reconnectIvl = 0.01;
        MessageSocket router(SocketType::Router), first(SocketType::Dealer, named), second(SocketType::Dealer, named);
        first.connect(router.bind("inproc://ids"));
        co_await until(router, 1);
        second.connect("inproc://ids");
        while (router.counters().refused < 2)
            co_await delay(0.001);
        CHECK(router.counters().lastFault == zmtp::Fault::IdentityInUse);
        CHECK(second.peers() == 0);
        co_await router.sendBytesTo("ann", "hello");
        CHECK((co_await first.receive())[0] == "hello");
    });
}

TEST_CASE("message connections: a PAIR has one peer at a time") {
    runOnLoop([]() -> Future<Void> {
        static constexpr char const* kPlaces[] = {kAnywhere, "inproc://pair"};
        for (char const* where : kPlaces) {
            MessageOptions options;
            options.reconnectIvl = 0.01;
            MessageSocket pair(SocketType::Pair, options);
            auto first = std::make_unique<MessageSocket>(SocketType::Pair, options);
            MessageSocket second(SocketType::Pair, options);
            std::string endpoint = pair.bind(where);
            first->connect(endpoint);
            co_await until(pair, 1);
            second.connect(endpoint);
            while (pair.counters().lastFault != zmtp::Fault::PairInUse)
                co_await delay(0.001);
            co_await pair.send("to the first");
            CHECK((co_await first->receive())[0] == "to the first");
            first = nullptr;
            co_await second.send("now");
            CHECK((co_await pair.receive())[0] == "now");
        }
    });
}

TEST_CASE("message connections: a peer that is silent for the TTL of its PING is disconnected") {
    runOnLoop([]() -> Future<Void> {
        MessageSocket pull(SocketType::Pull);
        std::string endpoint = pull.bind(kAnywhere);
        Reference<Connection> peer = co_await connectRaw(endpoint, "PUSH");
        std::string beat = ping(1);
        double began = now();
        for (int i = 0; i < 5; ++i) {
            co_await peer->write(StringRef(beat));
            co_await delay(0.04);
        }
        CHECK(pull.counters().disconnected == 0);
        while (pull.counters().disconnected == 0)
            co_await delay(0.001);
        CHECK(now() - began >= 0.2);
        CHECK(pull.counters().lastFault == zmtp::Fault::HeartbeatTimedOut);
        Reference<Connection> patient = co_await connectRaw(endpoint, "PUSH");
        std::string first = ping(1), second = ping(0); // it takes its promise back
        co_await patient->write(StringRef(first));
        co_await patient->write(StringRef(second));
        co_await delay(0.25);
        CHECK(pull.counters().disconnected == 1);
    });
}

TEST_CASE("message connections: a peer that sends PINGs and reads nothing costs no memory") {
    runOnLoop([]() -> Future<Void> {
        MessageOptions small;
        small.sndBuf = 4096;
        MessageSocket pull(SocketType::Pull, small);
        Address address = *Address::parse(pull.bind(kAnywhere).substr(6));
        Reference<Connection> peer = co_await connectRaw("tcp://" + address.toString(), "PUSH");
        std::string many;
        while (many.size() < 20'000'000)
            many += ping(0);
        co_await peer->write(StringRef(many));
        std::uint64_t all = many.size();
        while (pull.counters().calls.bytesRead < all)
            co_await delay(0.001);
        std::string message;
        zmtp::appendFrame(message, "still here", {});
        co_await peer->write(StringRef(message));
        CHECK((co_await pull.receive())[0] == "still here");
        std::size_t answered = 0;
        std::string buffer(100'000, '\0');
        for (;;) {
            auto some = co_await race(peer->readSome(std::span(buffer)), delay(0.1));
            if (some.index() == 1)
                break;
            answered += std::get<0>(some);
        }
        CHECK(answered > 0);
        CHECK(answered < all / 2); // the buffers of the kernel, and 64 KiB
    });
}

TEST_CASE(
    "message connections: before the handshake is done, a frame that is no command is refused at its first byte") {
    runOnLoop([]() -> Future<Void> {
        MessageSocket pull(SocketType::Pull);
        std::string endpoint = pull.bind(kAnywhere);
        Reference<Connection> peer = co_await connectRaw(endpoint, "");
        std::string header;
        zmtp::appendFrameHeader(header, 1'000'000'000, {});
        co_await peer->write(StringRef(header));
        while (pull.counters().refused == 0)
            co_await delay(0.001);
        CHECK(pull.counters().lastFault == zmtp::Fault::BadCommand);
    });
}

TEST_CASE("message connections: with NULL too a peer that the authenticator refuses is never connected") {
    runOnLoop([]() -> Future<Void> {
        MessageOptions options;
        bool mayEnter = false, fails = false;
        int failures = 0;
        options.authenticator = [&](Credentials given) -> Future<bool> {
            CHECK(given.mechanism == "NULL");
            CHECK(given.address.starts_with("127.0.0.1:"));
            co_await delay(0.005);
            if (fails && ++failures % 2 == 0)
                throw std::runtime_error("the database is away");
            if (fails)
                throw io_error();
            co_return mayEnter;
        };
        MessageOptions again;
        again.reconnectIvl = 0.01;
        MessageSocket pull(SocketType::Pull, options), push(SocketType::Push, again);
        push.connect(pull.bind(kAnywhere));
        co_await push.send("waits until it may enter");
        while (push.counters().refused < 2)
            co_await delay(0.001);
        fails = true;
        for (std::uint64_t before = pull.counters().refused; pull.counters().refused < before + 4;)
            co_await delay(0.001);
        fails = false;
        CHECK(pull.counters().lastFault == zmtp::Fault::BadCredentials);
        CHECK(push.counters().lastFault == zmtp::Fault::RefusedByPeer);
        CHECK(push.counters().connected == 0);
        mayEnter = true;
        CHECK((co_await pull.receive())[0] == "waits until it may enter");
    });
}

TEST_CASE(
    "message connections: as in ZeroMQ, 0 is no limit for handshakes, and no growth for pauses; below is refused") {
    runOnLoop([]() -> Future<Void> {
        MessageOptions options;
        options.handshakeIvl = options.reconnectIvlMax = 0;
        options.reconnectIvl = 0.02;
        MessageSocket push(SocketType::Push, options);
        FutureStream<MonitorEvent> events = push.monitor();
        push.connect("tcp://127.0.0.1:1");
        double began = now();
        for (int i = 0; i < 4; ++i)
            (void)co_await events;
        CHECK(now() - began >= 0.04);
        MessageSocket pull(SocketType::Pull, options);
        push.connect(pull.bind(kAnywhere));
        co_await until(push, 1);
        static constexpr Seconds MessageOptions::* kTimes[] = {&MessageOptions::linger, &MessageOptions::reconnectIvl,
                                                               &MessageOptions::heartbeatTtl};
        for (auto time : kTimes) {
            MessageOptions wrong;
            wrong.*time = -1;
            CHECK_THROWS_AS(MessageSocket(SocketType::Pull, wrong), Error);
        }
    });
}

TEST_CASE("message connections: an XPUB receives what an XSUB sends, and a peer's topics are limited") {
    runOnLoop([]() -> Future<Void> {
        MessageOptions options;
        options.limits.allTopicsBytes = 100;
        options.rcvHwm = 3;
        MessageSocket pub(SocketType::XPub, options), sub(SocketType::XSub);
        std::string endpoint = pub.bind(kAnywhere);
        sub.subscribe("news");
        sub.connect(endpoint);
        CHECK((co_await pub.receive())[0] == "\1news");
        for (int i = 0; i < 10; ++i)
            co_await sub.send(Message("upstream").add(std::to_string(i)));
        for (int i = 0; i < 10; ++i)
            CHECK((co_await pub.receive())[1] == std::to_string(i));
        CHECK(pub.counters().discarded == 0);
        MessageSocket silent(SocketType::Pub), inside(SocketType::XSub);
        inside.connect(silent.bind("inproc://silent"));
        co_await until(inside, 1);
        for (int i = 0; i < 2000; ++i)
            co_await inside.send("upstream"); // a PUB receives nothing
        CHECK(silent.counters().discarded == 2000);
        CHECK(inside.counters().dropped == 0);
        co_await pub.send("news!");
        CHECK((co_await sub.receive())[0] == "news!");
        for (int i = 0; i < 1000; ++i) {
            sub.subscribe(std::string(50, 'x'));
            sub.unsubscribe(std::string(50, 'x'));
        }
        sub.subscribe(std::string(50, 'a'));
        sub.subscribe(std::string(50, 'b'));
        while (pub.counters().lastFault != zmtp::Fault::TooManyTopics)
            (void)co_await race(pub.receive(), delay(0.001));
    });
}

TEST_CASE("message connections: a part that is too large for a message fails, and nothing is sent") {
    runOnLoop([]() -> Future<Void> {
        MessageSocket pull(SocketType::Pull), push(SocketType::Push);
        push.connect(pull.bind(kAnywhere));
        for (int i = 0; i < 2; ++i) { // the first goes another way than those that follow
            static constexpr std::size_t kSizes[] = {Message::kLargest, Message::kLargest + 1, std::size_t{1} << 32};
            for (std::size_t size : kSizes) {
                std::string_view large("", size); // never read
                CHECK((co_await tryGet(keep(push.sendBytes(large)))).isError(error_code_value_too_large));
            }
            co_await push.sendBytes("small");
            CHECK((co_await pull.receive())[0] == "small");
        }
        CHECK(push.counters().sent == 2);
    });
}

TEST_CASE("message connections: a name that a ROUTER gives is given once, and no peer can choose it") {
    runOnLoop([]() -> Future<Void> {
        MessageSocket router(SocketType::Router), anonymous(SocketType::Dealer);
        std::string endpoint = router.bind(kAnywhere);
        Reference<Connection> first = co_await connectRaw(endpoint, "DEALER");
        co_await sendRaw(first, "hello");
        Message message = co_await router.receive();
        std::string given(message.routingId()), next = given;
        next.back() = static_cast<char>(next.back() + 1);
        first->close();
        co_await until(router, 0);
        Reference<Connection> thief = co_await connectRaw(endpoint, "DEALER", given);
        Reference<Connection> other = co_await connectRaw(endpoint, "DEALER", next);
        co_await until(router, 2);
        co_await router.send(message);
        co_await router.sendBytesTo(given, "for the first");
        CHECK(router.counters().dropped == 2);
        anonymous.connect(endpoint);
        co_await until(router, 3);
        CHECK(router.counters().refused == 0);
    });
}
