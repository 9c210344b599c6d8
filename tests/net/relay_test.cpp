#include "net/relay.h"

#include "flow/combine/all.h"
#include "flow/core/error_or.h"
#include "flow/coro/coroutine.h"
#include "flow/sim/sim_loop.h"
#include "flow/sim/world.h"
#include "flow/wait/delay.h"
#include "net/connect.h"
#include "net/serve.h"
#include "net/sim/sim_network.h"
#include "net/testing/connection_pair.h"
#include "net/testing/scripted_peer.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/death.h"
#include "tests/net/transport_suite.h"

#include <doctest/doctest.h>

#include <string>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace relay_test {
namespace {

/// A client and a server, and a relay between them.
struct Relayed {
    Reference<Connection> client, server;
    Future<Void> running;
};

Relayed relayed() {
    ConnectionPair front = connectionPair(), back = connectionPair();
    return {front.first, back.second, relay(front.second, back.first)};
}

/// Begins with numbers, and has no period.
std::string textOf(std::size_t size) {
    std::string text;
    for (int i = 0; text.size() < 500; ++i)
        text += std::to_string(i) + " ";
    while (text.size() < size)
        text += text + "+";
    return text;
}

Future<Void> sendAll(Reference<Connection> to, std::string text) {
    try {
        for (std::size_t at = 0; at < text.size(); at += 10'000) {
            Bytes piece = StringRef(text.substr(at, 10'000));
            co_await to->write(std::move(piece));
        }
        to->shutdownWrite();
    } catch (Error& error) {
        CHECK((error == connection_reset() || error == actor_cancelled()));
    }
}

void simulated(Future<Void> (*test)()) {
    SimLoop loop;
    Balance balance;
    loop.run(test());
}

/// Cancels or drops a relay after some turns. Returns true if the relay had ended before.
Future<bool> cutAfter(int turns, bool byDropping) {
    static std::string const there = textOf(300'000), back = textOf(100'000);
    Relayed all = relayed();
    Future<Void> asking = sendAll(all.client, there), answering = sendAll(all.server, back);
    auto receiving = tryGet(readAll(all.server)), returning = tryGet(readAll(all.client));
    for (int i = 0; i < turns; ++i)
        co_await delay(0);
    bool isReady = all.running.isReady();
    if (byDropping) {
        all.running = Future<Void>();
    } else if (!isReady) {
        all.running.cancel();
        CHECK(all.running.getError() == actor_cancelled());
    }
    ErrorOr<std::string> received = co_await std::move(receiving), returned = co_await std::move(returning);
    CHECK((received.isError() ? received.getError() == connection_reset() : received.get() == there));
    CHECK((returned.isError() ? returned.getError() == connection_reset() : returned.get() == back));
    CHECK((!isReady || (!received.isError() && !returned.isError())));
    co_return isReady;
}

} // namespace

TEST_CASE("relay: both ways with half-close, and it ends when both have ended") {
    simulated([]() -> Future<Void> {
        Relayed all = relayed();
        std::string const there = textOf(300'000), back = textOf(200'000);
        Future<std::string> received = readAll(all.server);
        co_await sendAll(all.client, there);
        std::string text = co_await received;
        CHECK(text == there);
        co_await delay(10);
        CHECK(!all.running.isReady());
        Future<std::string> returned = readAll(all.client);
        co_await sendAll(all.server, back);
        text = co_await returned;
        CHECK(text == back);
        co_await all.running;
    });
}

TEST_CASE("relay: reads no more than the other side takes") {
    simulated([]() -> Future<Void> {
        Relayed all = relayed(); // with a server that does not read
        std::size_t sent = 0;
        for (Bytes piece = StringRef(std::string(1000, 'x'));; sent += 1000) {
            Drain written = all.client->write(piece);
            co_await delay(1);
            if (!written.isReady())
                break;
        }
        CHECK(sent <= 4 * Connection::kHighWater); // two queues, and the bytes that one read has given
        all.client->shutdownWrite();
        std::string text = co_await readAll(all.server);
        CHECK(text.size() == sent + 1000);
    });
}

TEST_CASE("relay: a reset of one side is an error, and resets the other side") {
    simulated([]() -> Future<Void> {
        for (bool isClient : {true, false})
            for (bool hasEnded : {false, true}) {
                Relayed all = relayed();
                Reference<Connection> rude = isClient ? all.client : all.server,
                                      other = isClient ? all.server : all.client;
                Future<Void> playing = ScriptedPeer(rude).send("half").wait(1).reset().run();
                if (hasEnded)
                    other->shutdownWrite();
                Bytes half = co_await other->readExactly(4);
                CHECK(half == "half"_sr);
                Error error = co_await endOf(keep(other->read()));
                CHECK(error == connection_reset());
                error = co_await endOf(all.running);
                CHECK(error == connection_reset());
                co_await playing;
            }
    });
}

TEST_CASE("relay: a cancel at each step resets both sides, or all bytes have come") {
    for (bool byDropping : {false, true}) {
        int cut = 0;
        for (bool isReady = false; !isReady; ++cut) {
            INFO("after ", cut, " turns");
            SimLoop loop;
            Balance balance;
            isReady = loop.run(cutAfter(cut, byDropping));
            REQUIRE(cut < 1000);
        }
        CHECK(cut > 4);
    }
}

TEST_CASE("relay: in a network with resets, an end comes only behind all bytes") {
    static std::string const there = textOf(200'000), back = textOf(100'000);
    static int whole, failed;
    whole = failed = 0;
    auto count = [](ErrorOr<std::string> const& text, std::string const& expected) {
        CHECK((text.isError() || text.get() == expected));
        ++(text.isError() ? failed : whole);
    };
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        INFO(seed);
        Faults faults;
        faults.connectionReset = 0.01;
        faults.shortRead = 0.1;
        faults.mergedRead = 0.5;
        World world(seed, faults);
        SimNetwork network(world);
        auto answer = [=](Reference<Connection> client) -> Future<Void> {
            Future<Void> sending = sendAll(client, back);
            ErrorOr<std::string> text = co_await tryGet(readAll(client));
            count(text, there);
            co_await sending;
        };
        auto pass = [](Reference<Connection> client) -> Future<Void> {
            Reference<Connection> server = co_await net::connect("server", 1);
            co_await relay(client, server);
        };
        auto serveAt = [](auto serve) { return serveUntil(transport().listen(1), serve, Never(), 1); };
        Process& server = world.start({.name = "server", .main = [&] { return serveAt(answer); }});
        network.setName("server", {Address(server.address(), 0)});
        Process& proxy = world.start({.name = "proxy", .main = [&] { return serveAt(pass); }});
        network.setName("proxy", {Address(proxy.address(), 0)});
        auto ask = [&]() -> Future<Void> {
            Reference<Connection> connection = co_await net::connect("proxy", 1);
            Future<Void> sending = sendAll(connection, there);
            ErrorOr<std::string> text = co_await tryGet(readAll(connection));
            count(text, back);
            co_await sending; // a client that leaves earlier has sent only a part
        };
        Process& client = world.start({.name = "client", .main = ask});
        world.run(success(delay(100)));
        CHECK(client.exit() == Error());
        CHECK(network.openEnds() == 0);
    }
    CHECK(whole > 10);
    CHECK(failed > 5);
}

TEST_CASE("relay: two connections are needed") {
    SimLoop loop;
    ConnectionPair pair = connectionPair();
    CHECK_DIES((void)relay(pair.first, pair.first), "relay_test.cpp");
    CHECK_DIES((void)relay({}, pair.first), "relay() needs two connections");
}

} // namespace relay_test
