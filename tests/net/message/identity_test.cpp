// A connection is not a peer: nothing of one that has ended is taken for the next one to the same endpoint.

#include "net/message/detail/peer.h"

#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/loop.h"
#include "flow/wait/delay.h"
#include "tests/net/message/on_loop.h"
#include "tests/net/message/raw_peer.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>

using namespace flow;
using namespace flow::net;

namespace {

MessageOptions quick() {
    MessageOptions options;
    options.reconnectIvl = 0.01;
    return options;
}

/// The other end of a socket that connects: a listener, which takes one connection after the other.
struct Ends {
    Reference<Listener> listener = transport().listen(*Address::parse("127.0.0.1:0"));
    std::string endpoint() const { return "tcp://" + listener->localAddress().toString(); }
};

/// Whether nothing comes for a while.
Future<bool> isSilent(Reference<Connection> peer) {
    auto first = co_await race(peer->read(), delay(0.1));
    co_return first.index() == 1;
}

} // namespace

TEST_CASE(
    "identity: a ROUTER's message of an ended connection has its sender's name, and its answer goes to no other") {
    runEverywhere([]() -> Future<Void> {
        Ends ends;
        MessageSocket router(SocketType::Router, quick());
        router.connect(ends.endpoint());
        Reference<Connection> alice = co_await acceptRaw(ends.listener, "DEALER", "alice");
        co_await sendRaw(alice, "of alice");
        co_await sendRaw(alice, "of alice too");
        while (router.peers() == 0)
            co_await delay(0.001);
        co_await delay(0.02);
        alice->close();
        Reference<Connection> mallory = co_await acceptRaw(ends.listener, "DEALER", "mallory");
        co_await until(router, 1);
        Message message = co_await router.receive();
        CHECK(message.routingId() == "alice");
        CHECK(message[0] == "of alice");
        co_await router.send(message);
        CHECK(router.counters().dropped == 1);
        CHECK(co_await isSilent(mallory));
        co_await router.sendBytesTo("mallory", "for mallory");
        CHECK(co_await readRaw(mallory) == "for mallory");
        mallory->close();
        alice = co_await acceptRaw(ends.listener, "DEALER", "alice"); // who has the name again gets what is sent to it
        co_await until(router, 1);
        message = co_await router.receive();
        CHECK(message.routingId() == "alice");
        co_await router.send(message);
        CHECK(co_await readRaw(alice) == "of alice too");
    });
}

TEST_CASE("identity: with routerMandatory the answer to a connection that has ended fails") {
    runEverywhere([]() -> Future<Void> {
        Ends ends;
        MessageOptions options = quick();
        options.routerMandatory = true;
        MessageSocket router(SocketType::Router, options);
        router.connect(ends.endpoint());
        Reference<Connection> anonymous = co_await acceptRaw(ends.listener, "DEALER");
        co_await sendRaw(anonymous, "question");
        Message message = co_await router.receive();
        anonymous->close();
        Reference<Connection> other = co_await acceptRaw(ends.listener, "DEALER");
        co_await until(router, 1);
        Future<Void> sent = keep(router.send(message));
        CHECK((co_await tryGet(sent)).isError(error_code_host_unreachable));
        CHECK(message[0] == "question");
        CHECK(co_await isSilent(other));
    });
}

TEST_CASE("identity: a REP's answer goes to the connection of its question alone") {
    runEverywhere([]() -> Future<Void> {
        for (bool isReceivedBefore : {true, false}) {
            Ends ends;
            MessageSocket rep(SocketType::Rep, quick());
            rep.connect(ends.endpoint());
            Reference<Connection> first = co_await acceptRaw(ends.listener, "REQ");
            co_await sendRaw(first, "", "first");
            Message question;
            if (isReceivedBefore)
                question = co_await rep.receive();
            else
                co_await delay(0.02);
            first->close();
            Reference<Connection> second = co_await acceptRaw(ends.listener, "REQ");
            co_await sendRaw(second, "", "second");
            co_await until(rep, 1);
            if (!isReceivedBefore)
                question = co_await rep.receive();
            CHECK(question[0] == "first");
            co_await rep.send("answer to the first");
            CHECK(rep.counters().dropped == 1);
            question = co_await rep.receive();
            CHECK(question[0] == "second");
            co_await rep.send("answer to the second");
            CHECK(co_await readRaw(second) == "");
            CHECK(co_await readRaw(second) == "answer to the second");
        }
    });
}

TEST_CASE("identity: a REQ takes a second reply for no reply to its next request") {
    runEverywhere([]() -> Future<Void> {
        for (bool isEnded : {false, true}) {
            Ends ends;
            MessageSocket req(SocketType::Req, quick());
            req.connect(ends.endpoint());
            Future<Reference<Connection>> accepting = acceptRaw(ends.listener, "REP");
            co_await req.send("first");
            Reference<Connection> rep = co_await accepting;
            CHECK(co_await readRaw(rep) == "");
            CHECK(co_await readRaw(rep) == "first");
            co_await sendRaw(rep, "", "reply");
            co_await sendRaw(rep, "", "the same again");
            co_await delay(0.02);
            if (isEnded) {
                rep->close();
                rep = co_await acceptRaw(ends.listener, "REP");
                co_await until(req, 1);
            }
            CHECK((co_await req.receive())[0] == "reply");
            co_await req.send("second");
            CHECK(co_await readRaw(rep) == "");
            CHECK(co_await readRaw(rep) == "second");
            CHECK_FALSE(req.receive().isReady());
            co_await sendRaw(rep, "", "second reply");
            CHECK((co_await req.receive())[0] == "second reply");
            CHECK(req.counters().discarded == 1);
        }
    });
}

TEST_CASE("identity: senders that wait for a name go on with its next connection") {
    runEverywhere([]() -> Future<Void> {
        MessageOptions options;
        options.routerHandover = true;
        options.sndHwmBytes = 300'000;
        options.sndBuf = 4096;
        MessageSocket router(SocketType::Router, options);
        std::string endpoint = router.bind(kAnywhere);
        Reference<Connection> before = co_await connectRaw(endpoint, "DEALER", "alice");
        co_await until(router, 1);
        std::string large(200'000, 'x');
        std::deque<Future<Void>> sending;
        std::size_t waiting = 0;
        while (waiting < 6) { // the kernel's buffers fill first
            sending.push_back(router.send(Message::to("alice").add(large)));
            co_await delay(0.02);
            waiting = static_cast<std::size_t>(std::count_if(sending.begin(), sending.end(),
                                                             [](Future<Void> const& each) { return !each.isReady(); }));
        }
        MessageOptions named;
        named.routingId = "alice";
        MessageSocket alice(SocketType::Dealer, named);
        alice.connect(endpoint);
        for (std::size_t i = 0; i < waiting; ++i)
            CHECK((co_await alice.receive())[0].size() == large.size());
        for (Future<Void>& each : sending)
            co_await each;
    });
}

TEST_CASE("identity: the promises of a connection end with it") {
    runEverywhere([]() -> Future<Void> {
        Ends ends;
        MessageSocket pull(SocketType::Pull, quick());
        pull.connect(ends.endpoint());
        Reference<Connection> first = co_await acceptRaw(ends.listener, "PUSH");
        std::string beat = ping(1), part;
        zmtp::appendFrameHeader(part, 100, {.more = true});
        co_await first->write(StringRef(beat + part)); // it will be silent for a tenth of a second, and half a message
        co_await delay(0.02);
        first->close();
        Reference<Connection> second = co_await acceptRaw(ends.listener, "PUSH");
        co_await until(pull, 1);
        co_await delay(0.4);
        co_await sendRaw(second, "whole");
        CHECK((co_await pull.receive())[0] == "whole");
        CHECK(pull.counters().disconnected == 1);
    });
}
