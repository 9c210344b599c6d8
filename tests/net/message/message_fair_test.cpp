// A peer that sends as fast as it can keeps a loop from nothing else.

#include "flow/compat/wait_for_all.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/loop/step_watch.h"
#include "flow/sim/world.h"
#include "flow/wait/delay.h"
#include "net/message/detail/message_state.h"
#include "net/sim/sim_network.h"
#include "tests/net/message/on_loop.h"
#include "tests/net/turns.h"

#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <vector>

using namespace flow;
using namespace flow::net;
using test::Turns;

namespace {

Future<Void> sendMuch(MessageSocket* socket, Turns* turns) {
    while (!turns->isOver())
        co_await socket->sendBytes("some bytes");
}
Future<Void> receiveMuch(MessageSocket* socket, Turns* turns) {
    while (!turns->isOver()) {
        Message message = co_await socket->receive();
        turns->note(message.wire().size());
    }
}
Future<Void> floodOfMessages(std::string endpoint, int senders) {
    MessageSocket pull(SocketType::Pull);
    std::string bound = pull.bind(endpoint);
    Turns turns;
    std::vector<std::unique_ptr<MessageSocket>> sockets;
    std::vector<Future<Void>> sending;
    for (int i = 0; i < senders; ++i) {
        sockets.push_back(std::make_unique<MessageSocket>(SocketType::Push));
        sockets.back()->connect(bound);
        sending.push_back(sendMuch(sockets.back().get(), &turns));
    }
    Future<Void> receiving = receiveMuch(&pull, &turns);
    co_await turns.watch();
    turns.check(2 * senders);
}

Future<Void> sendEndlessly(MessageSocket* socket) {
    for (;;)
        co_await socket->sendBytes("many");
}
/// Receives so slowly that the input of the peer that sends endlessly is never empty.
Future<Void> oneBesideMany(std::string endpoint, double pause) {
    MessageSocket pull(SocketType::Pull), many(SocketType::Push), one(SocketType::Push);
    std::string bound = pull.bind(endpoint);
    many.connect(bound);
    Future<Void> sending = sendEndlessly(&many);
    (void)co_await pull.receive();
    one.connect(bound);
    Future<Void> sent = one.send("one");
    for (int before = 0;; ++before) {
        if (before > 10'000) // a receive buffer and two high-water marks
            throw timed_out();
        Message message = co_await pull.receive();
        if (message[0] == "one")
            co_return;
        co_await delay(pause, TaskPriority::Low);
    }
}

TEST_CASE("message fairness: messages that are always there") {
    for (char const* endpoint : {kAnywhere, "inproc://flood"})
        for (int senders : {1, 50}) {
            RealLoop loop;
            loop.run(floodOfMessages(endpoint, senders));
        }
    World world(1);
    SimNetwork network(world);
    Process& process = world.start({.name = "p", .main = [] { return floodOfMessages("tcp://10.0.0.1:*", 5); }});
    world.run(process.onStop());
    CHECK(process.exit() == Error());
}

/// A server and its client on one loop: each message wakes the other one. True if a timer has its turn meanwhile.
Future<bool> askAndAnswer(std::string endpoint) {
    MessageSocket rep(SocketType::Rep), req(SocketType::Req);
    req.connect(rep.bind(endpoint));
    int rounds = 0;
    auto serve = [&]() -> Future<Void> {
        for (;;) {
            (void)co_await rep.receive();
            co_await rep.sendBytes("answer");
        }
    };
    auto ask = [&]() -> Future<Void> {
        for (; rounds < 20'000; ++rounds) {
            co_await req.sendBytes("question");
            (void)co_await req.receive();
        }
    };
    Future<Void> serving = serve(), asking = ask();
    while (rounds == 0)
        co_await delay(0.001);
    co_return rounds < 20'000;
}

TEST_CASE("message fairness: a server and its client on one loop, and a timer") {
    for (char const* endpoint : {kAnywhere, "inproc://questions"}) {
        RealLoop loop;
        CHECK(loop.run(askAndAnswer(endpoint)));
    }
}

/// The future of a send() that keeps its message counts as the operation does.
Future<Void> sendKept(MessageSocket* socket, Turns* turns, std::string to) {
    while (!turns->isOver()) {
        Message message = to.empty() ? Message() : Message::to(to);
        message.add("some bytes");
        co_await socket->send(std::move(message));
        turns->note(0);
    }
}
Future<Void> floodOfKept(SocketType type, std::string to) {
    MessageSocket socket(type);
    socket.bind(kAnywhere);
    Turns turns;
    Future<Void> sending = sendKept(&socket, &turns, to);
    co_await turns.watch();
    turns.check(1);
}

TEST_CASE("message fairness: messages that the future of their send() keeps") {
    for (SocketType type : {SocketType::Pub, SocketType::XPub}) {
        RealLoop loop;
        loop.run(floodOfKept(type, ""));
    }
    RealLoop loop;
    loop.run(floodOfKept(SocketType::Router, "nobody"));
}

/// All of them arrive, and in order, also those that were put off.
TEST_CASE("message fairness: a thousand kept messages of one turn") {
    runEverywhere([]() -> Future<Void> {
        MessageSocket pull(SocketType::Pull), push(SocketType::Push);
        push.connect(pull.bind("tcp://" + transport().localAddress().hostToString() + ":*"));
        std::vector<Future<Void>> sending;
        for (int i = 0; i < 1000; ++i)
            sending.push_back(push.send(std::to_string(i)));
        for (int i = 0; i < 1000; ++i) {
            Message message = co_await pull.receive();
            CHECK(message[0] == std::to_string(i));
        }
        co_await waitForAll(sending);
    });
}

Future<Void> receiveSteadily(MessageSocket* socket) {
    for (;;) {
        (void)co_await socket->receive();
        co_await delay(0.001);
    }
}
/// There are two that send; one comes back at once.
Future<Void> checkSenders(MessageSocket* socket, std::string id, bool asMessage) {
    int rounds = 0;
    bool isOver = false;
    auto sendOne = [](MessageSocket* to, std::string name, bool isMessage) -> Future<Void> {
        std::string bytes(1000, 'x');
        Message message = name.empty() ? Message() : Message::to(name);
        message.add(bytes);
        if (isMessage)
            co_await to->send(message);
        else if (name.empty())
            co_await to->sendBytes(bytes);
        else
            co_await to->sendBytesTo(name, bytes);
    };
    auto comeBack = [&]() -> Future<Void> {
        for (; !isOver && rounds < 10'000; ++rounds)
            co_await sendOne(socket, id, asMessage);
    };
    Future<Void> greedy = comeBack();
    for (int i = 0; i < 20; ++i) {
        int before = rounds;
        co_await sendOne(socket, id, asMessage);
        CHECK(rounds - before <= 2);
    }
    isOver = true;
    co_await greedy;
}
Future<Void> sendersThatWait() {
    MessageOptions little;
    little.sndHwmBytes = little.rcvHwmBytes = 20'000;
    little.sndBuf = little.rcvBuf = 4096;
    for (bool asMessage : {false, true}) {
        MessageSocket pull(SocketType::Pull, little), push(SocketType::Push, little);
        push.connect(pull.bind("tcp://" + transport().localAddress().hostToString() + ":*"));
        Future<Void> receiving = receiveSteadily(&pull);
        co_await checkSenders(&push, "", asMessage);
        MessageOptions named = little;
        named.routingId = "dealer";
        MessageSocket router(SocketType::Router, little), dealer(SocketType::Dealer, named);
        dealer.connect(router.bind("tcp://" + transport().localAddress().hostToString() + ":*"));
        co_await until(router, 1);
        Future<Void> receivingToo = receiveSteadily(&dealer);
        co_await checkSenders(&router, "dealer", asMessage);
    }
}

TEST_CASE("message fairness: of several that wait for room, each is served in its turn") {
    runEverywhere(sendersThatWait);
}

/// The bytes that a socket reads in a turn of the loop.
class Sampler final : StepWatch {
public:
    explicit Sampler(MessageSocket& socket) : socket_(socket), loop_(Loop::current()) { loop_.add(*this); }
    Sampler(Sampler const&) = delete;
    Sampler& operator=(Sampler const&) = delete;
    ~Sampler() { loop_.remove(*this); }
    std::uint64_t most() const { return most_; }
    std::uint64_t all() const { return before_; }

private:
    void turnBegins() noexcept override {
        std::uint64_t now = socket_.counters().calls.bytesRead;
        most_ = std::max(most_, now - before_);
        before_ = now;
    }
    void begins(WaiterNode*, TaskPriority) noexcept override {}

    MessageSocket& socket_;
    Loop& loop_;
    std::uint64_t before_ = 0, most_ = 0;
};

TEST_CASE("message fairness: commands, for which no receive() is needed") {
    runOnLoop([]() -> Future<Void> {
        MessageSocket pull(SocketType::Pull);
        Address address = *Address::parse(pull.bind(kAnywhere).substr(6));
        Reference<Connection> peer = co_await transport().connect(address);
        std::string bytes, type, ping;
        zmtp::appendGreeting(bytes, "NULL", false);
        zmtp::appendProperty(type, "Socket-Type", "PUSH");
        zmtp::appendCommand(bytes, "READY", type);
        zmtp::appendCommand(ping, "PING", std::string(2, '\0') + "0123456789abcdef");
        while (bytes.size() < 10'000'000)
            bytes += ping;
        Sampler sampler(pull);
        co_await peer->write(StringRef(bytes));
        while (sampler.all() < bytes.size())
            co_await delay(0);
        CHECK(sampler.most() <= Turns::kMostBytes + Turns::kLargest);
    });
}

} // namespace

TEST_CASE("message fairness: a slow receiver serves a peer beside one that sends endlessly") {
    RealLoop loop;
    loop.run(oneBesideMany(kAnywhere, 0));
    World world(1);
    SimNetwork network(world);
    Process& process = world.start({.name = "p", .main = [] { return oneBesideMany("tcp://10.0.0.1:*", 0.001); }});
    world.run(process.onStop());
    CHECK(process.exit() == Error());
}
