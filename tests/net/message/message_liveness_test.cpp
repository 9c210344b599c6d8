// Heartbeats: a healthy peer stays, whoever reads or not; a silent one is disconnected. And what ends only itself.

#include "net/message/detail/message_state.h"

#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/loop.h"
#include "flow/wait/delay.h"
#include "tests/net/message/on_loop.h"
#include "tests/net/message/raw_peer.h"

#include <doctest/doctest.h>

#include <memory>
#include <vector>

using namespace flow;
using namespace flow::net;

namespace {

MessageOptions beating(double interval, double timeout = 0, double ttl = 0) {
    MessageOptions options;
    options.heartbeatIvl = interval;
    options.heartbeatTimeout = timeout;
    options.heartbeatTtl = ttl;
    options.reconnectIvl = 0.01;
    return options;
}

/// On the simulated network these many intervals pass in no time.
bool isSimulated() {
    return Loop::current().isSimulated();
}

Future<Void> stayIdle() {
    struct Beats {
        double interval, timeout, ttl;
    };
    static constexpr Beats kBeats[] = {{0.2, 0, 0},   {0.25, 0, 0}, {1, 0, 0},     {1.05, 0, 0},  {0.2, 0.6, 0},
                                       {1, 0.4, 0},   {1, 3, 0},    {0.2, 0.6, 5}, {0.5, 0, 0.5}, {1, 0, 0.7},
                                       {0.3, 0, 1.5}, {0.05, 0, 0}, {7, 0, 0}};
    struct Both {
        std::unique_ptr<MessageSocket> server, client;
    };
    std::vector<Both> pairs;
    for (Beats const& each : kBeats) {
        for (bool serverBeats : {true, false})
            for (bool clientBeats : {true, false}) {
                MessageOptions beats = beating(each.interval, each.timeout, each.ttl), none;
                pairs.push_back({std::make_unique<MessageSocket>(SocketType::Router, serverBeats ? beats : none),
                                 std::make_unique<MessageSocket>(SocketType::Dealer, clientBeats ? beats : none)});
                pairs.back().client->connect(pairs.back().server->bind(kAnywhere));
            }
    }
    co_await delay(isSimulated() ? 600 : 1.3);
    for (Both const& each : pairs) {
        CHECK(each.server->peers() == 1);
        CHECK(each.server->counters().disconnected == 0);
        CHECK(each.client->counters().disconnected == 0);
    }
}

/// The sender fills all buffers between the two, and then nothing moves.
Future<Void> stayUnread(bool receiverBeats) {
    double interval = isSimulated() ? 1 : 0.1;
    MessageOptions receiving = receiverBeats ? beating(interval) : MessageOptions();
    MessageOptions sending = receiverBeats ? MessageOptions() : beating(interval);
    receiving.rcvBuf = sending.sndBuf = 4096;
    sending.sndHwmBytes = 100'000;
    MessageSocket pull(SocketType::Pull, receiving), push(SocketType::Push, sending);
    push.connect(pull.bind(kAnywhere));
    co_await until(push, 1);
    std::string body(10'000, 'x');
    int sent = 0, received = 0;
    for (int pass = 0; pass < 2; ++pass) {
        for (;; ++sent) {
            auto first = co_await race(push.sendBytes(body), delay(interval / 2));
            if (first.index() == 1)
                break;
        }
        co_await delay(12 * interval);
        CHECK(pull.counters().disconnected == 0);
        CHECK(push.counters().disconnected == 0);
        for (; received < sent; ++received)
            (void)co_await pull.receive();
    }
    co_await delay(4 * interval);
    CHECK(pull.counters().disconnected == 0);
}

} // namespace

TEST_CASE("liveness: healthy idle connections stay, with all heartbeats") {
    runEverywhere(stayIdle);
}

TEST_CASE("liveness: a peer of which messages are unread is not silent, and one that does not read is not silent") {
    runEverywhere([]() -> Future<Void> {
        co_await stayUnread(true);
        co_await stayUnread(false);
    });
}

TEST_CASE("liveness: a socket that does not read answers within the TTL of the PING that it has read") {
    runEverywhere([]() -> Future<Void> {
        MessageOptions small;
        small.rcvHwm = 10;
        MessageSocket pull(SocketType::Pull, small);
        Reference<Connection> peer = co_await connectRaw(pull.bind(kAnywhere), "PUSH");
        (void)co_await peer->readExactly(zmtp::kGreetingBytes);
        (void)co_await readRaw(peer);
        std::string beat = ping(4), many;
        for (int i = 0; i < 100; ++i)
            zmtp::appendFrame(many, "unread", {});
        co_await peer->write(StringRef(beat + many));
        CHECK((co_await readRaw(peer)).starts_with("\4PONG"));
        for (int i = 0; i < 5; ++i) {
            auto answer = co_await race(readRaw(peer), delay(0.4));
            REQUIRE(answer.index() == 0);
            CHECK(std::get<0>(answer).starts_with("\4PONG"));
        }
        for (int i = 0; i < 100; ++i)
            CHECK((co_await pull.receive())[0] == "unread");
        CHECK(pull.counters().disconnected == 0);
    });
}

TEST_CASE("liveness: a silent peer is disconnected after the timeout, also while nothing is received") {
    runEverywhere([]() -> Future<Void> {
        for (bool isReceiving : {true, false}) {
            MessageSocket pull(SocketType::Pull, beating(0.2, 0.1));
            Reference<Connection> peer = co_await connectRaw(pull.bind(kAnywhere), "PUSH");
            Future<Message> receiving = isReceiving ? keep(pull.receive()) : Future<Message>(Never());
            co_await until(pull, 1);
            double began = now();
            co_await sendRaw(peer, "first"); // it is heard before it is silent
            if (isReceiving)
                CHECK((co_await receiving)[0] == "first");
            else
                CHECK((co_await pull.receive())[0] == "first");
            while (pull.counters().disconnected == 0)
                co_await delay(0.001);
            CHECK(now() - began >= 0.1);
            CHECK(pull.counters().lastFault == zmtp::Fault::HeartbeatTimedOut);
        }
    });
}

TEST_CASE("liveness: a peer that is silent behind an unread message is disconnected when that was received") {
    runEverywhere([]() -> Future<Void> {
        MessageSocket pull(SocketType::Pull, beating(0.1));
        Reference<Connection> peer = co_await connectRaw(pull.bind(kAnywhere), "PUSH");
        co_await sendRaw(peer, "unread");
        co_await until(pull, 1);
        co_await delay(0.5);
        CHECK(pull.counters().disconnected == 0);
        CHECK((co_await pull.receive())[0] == "unread");
        while (pull.counters().disconnected == 0)
            co_await delay(0.001);
        CHECK(pull.counters().lastFault == zmtp::Fault::HeartbeatTimedOut);
    });
}

TEST_CASE("liveness: half a message is no sign of life") {
    runEverywhere([]() -> Future<Void> {
        MessageSocket pull(SocketType::Pull, beating(0.1));
        Reference<Connection> peer = co_await connectRaw(pull.bind(kAnywhere), "PUSH");
        std::string header;
        zmtp::appendFrameHeader(header, 100, {});
        co_await peer->write(StringRef(header));
        while (pull.counters().disconnected == 0)
            co_await delay(0.001);
        CHECK(pull.counters().lastFault == zmtp::Fault::HeartbeatTimedOut);
    });
}

TEST_CASE("liveness: PINGs go out at the interval, with a TTL that leaves room") {
    runSimulated([]() -> Future<Void> {
        struct Expected {
            double interval, timeout, ttl, gap;
            int tenths;
        };
        static constexpr Expected kAll[] = {
            {1, 0, 0, 1, 20}, {1, 3, 0, 1, 40}, {0.25, 0, 0, 0.25, 5}, {1, 0, 5, 1, 50}, {1, 0, 0.5, 0.25, 5}};
        for (Expected const& each : kAll) {
            MessageSocket pull(SocketType::Pull, beating(each.interval, each.timeout, each.ttl));
            Reference<Connection> peer = co_await connectRaw(pull.bind(kAnywhere), "PUSH");
            (void)co_await peer->readExactly(zmtp::kGreetingBytes);
            (void)co_await readRaw(peer);
            double before = 0;
            for (int i = 0; i < 6; ++i) {
                std::string body = co_await readRaw(peer);
                CHECK(body.starts_with("\4PING"));
                CHECK(zmtp::readBigEndian(body.substr(5)) == static_cast<std::uint64_t>(each.tenths));
                if (i > 0)
                    CHECK(now() - before == doctest::Approx(each.gap).epsilon(0.05));
                before = now();
                std::string answer;
                zmtp::appendCommand(answer, "PONG", "");
                co_await peer->write(StringRef(answer));
            }
        }
    });
}

// -------------------------------------------------------------------------------------------------------------------
// Subscriptions

namespace {

Future<Void> forward(MessageSocket& from, MessageSocket& to) {
    for (;;) {
        Message message = co_await from.receive();
        co_await to.send(message);
    }
}

/// What an XPUB has received within a while: "+" for each subscription, "-" for each cancel.
Future<std::string> news(MessageSocket& publisher) {
    std::string all;
    for (;;) {
        auto first = co_await race(publisher.receive(), delay(0.05));
        if (first.index() == 1)
            co_return all;
        all += std::get<0>(first)[0][0] == '\1' ? '+' : '-';
    }
}

} // namespace

TEST_CASE("liveness: an XPUB gets the cancels of a subscriber that goes, however it goes") {
    runEverywhere([]() -> Future<Void> {
        static constexpr char const* kPlaces[] = {kAnywhere, "inproc://topics"};
        for (char const* place : kPlaces) {
            MessageSocket publisher(SocketType::XPub);
            std::string endpoint = publisher.bind(place);
            auto subscriber = std::make_unique<MessageSocket>(SocketType::Sub);
            for (int i = 0; i < 20; ++i)
                subscriber->subscribe("topic " + std::to_string(i));
            subscriber->unsubscribe("topic 7");
            subscriber->connect(endpoint);
            CHECK(co_await news(publisher) == std::string(19, '+'));
            subscriber.reset();
            CHECK(co_await news(publisher) == std::string(19, '-'));
        }
    });
}

TEST_CASE("liveness: topics that a peer subscribes to twice are cancelled once, as with libzmq") {
    runEverywhere([]() -> Future<Void> {
        MessageSocket publisher(SocketType::XPub);
        Reference<Connection> peer = co_await connectRaw(publisher.bind(kAnywhere), "SUB");
        std::string twice, once;
        for (int i = 0; i < 2; ++i)
            zmtp::appendCommand(twice, "SUBSCRIBE", "t");
        zmtp::appendCommand(once, "CANCEL", "t");
        co_await peer->write(StringRef(twice));
        CHECK(co_await news(publisher) == "+");
        co_await peer->write(StringRef(once));
        CHECK(co_await news(publisher) == "-");
        co_await peer->write(StringRef(once));
        CHECK(co_await news(publisher) == "");
    });
}

TEST_CASE("liveness: through a proxy the publisher gets a cancel when the last subscriber has gone") {
    runEverywhere([]() -> Future<Void> {
        for (bool isUnsubscribed : {true, false}) {
            MessageSocket publisher(SocketType::XPub), xsub(SocketType::XSub), xpub(SocketType::XPub);
            xsub.connect(publisher.bind(kAnywhere));
            std::string front = xpub.bind(kAnywhere);
            Future<Void> up = forward(xpub, xsub), down = forward(xsub, xpub);
            std::vector<std::unique_ptr<MessageSocket>> subscribers;
            for (int i = 0; i < 3; ++i) {
                subscribers.push_back(std::make_unique<MessageSocket>(SocketType::Sub));
                subscribers.back()->subscribe("t");
                subscribers.back()->connect(front);
            }
            CHECK(co_await news(publisher) == "+");
            for (int i = 0; i < 3; ++i) {
                co_await publisher.send("t " + std::to_string(i));
                CHECK((co_await subscribers.back()->receive())[0] == "t " + std::to_string(i));
                std::unique_ptr<MessageSocket>& leaving = subscribers[static_cast<std::size_t>(i)];
                isUnsubscribed ? leaving->unsubscribe("t") : leaving.reset();
                CHECK(co_await news(publisher) == (i == 2 ? "-" : ""));
            }
            std::uint64_t before = xsub.counters().received;
            co_await publisher.send("t more");
            co_await delay(0.05);
            CHECK(xsub.counters().received == before);
        }
    });
}

// -------------------------------------------------------------------------------------------------------------------
// Other tasks of a socket

TEST_CASE("liveness: a wrong endpoint fails, and the socket goes on") {
    runEverywhere([]() -> Future<Void> {
        MessageSocket pull(SocketType::Pull), second(SocketType::Pull), push(SocketType::Push);
        push.connect(pull.bind(kAnywhere));
        co_await push.send("before");
        CHECK((co_await pull.receive())[0] == "before");
        static constexpr char const* kWrong[] = {"inproc://",   "tcp://", "tcp://127.0.0.1:0",
                                                 "tcp://a b:1", "x://y",  ""};
        for (char const* each : kWrong) {
            bool isRefused = false;
            try {
                push.connect(each);
            } catch (Error& error) {
                isRefused = error.code() == error_code_connection_string_invalid;
            }
            INFO(each);
            CHECK(isRefused);
        }
        push.connect("tcp://127.0.0.1:9"); // nobody listens there
        push.connect("tcp://[2001:db8::1]:9");
        push.connect("inproc://nobody");
        co_await delay(0.02);
        push.connect(second.bind(kAnywhere));
        co_await until(push, 2);
        CHECK(pull.counters().disconnected == 0);
    });
}

TEST_CASE("liveness: a second connect to the same endpoint is one for the types for which libzmq has one") {
    runEverywhere([]() -> Future<Void> {
        struct Types {
            SocketType bound, connecting;
            std::size_t peers;
        };
        static constexpr Types kTypes[] = {
            {SocketType::Pub, SocketType::Sub, 1},       {SocketType::Sub, SocketType::Pub, 1},
            {SocketType::Router, SocketType::Dealer, 1}, {SocketType::Rep, SocketType::Req, 1},
            {SocketType::Pull, SocketType::Push, 2},     {SocketType::Push, SocketType::Pull, 2},
            {SocketType::Dealer, SocketType::Router, 2}, {SocketType::Dealer, SocketType::Rep, 2},
            {SocketType::XPub, SocketType::XSub, 2},     {SocketType::XSub, SocketType::XPub, 2}};
        for (Types const& each : kTypes) {
            MessageSocket bound(each.bound), connecting(each.connecting);
            std::string endpoint = bound.bind(kAnywhere);
            connecting.connect(endpoint);
            connecting.connect(endpoint);
            co_await until(connecting, each.peers);
            co_await delay(0.05);
            CHECK(connecting.peers() == each.peers);
            CHECK(bound.peers() == each.peers);
        }
        MessageSocket publisher(SocketType::Pub), subscriber(SocketType::Sub);
        std::string endpoint = publisher.bind(kAnywhere);
        subscriber.subscribe("");
        subscriber.connect(endpoint);
        subscriber.connect(endpoint);
        co_await until(subscriber, 1);
        co_await delay(0.05);
        co_await publisher.send("once");
        CHECK((co_await subscriber.receive())[0] == "once");
        auto again = co_await race(subscriber.receive(), delay(0.1));
        CHECK(again.index() == 1);
    });
}
