#include "net/connect.h"

#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/sim/world.h"
#include "flow/wait/delay.h"
#include "net/sim/sim_network.h"
#include "tests/net/transport_suite.h"

#include <doctest/doctest.h>

#include <vector>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace {

Address const kNobody = *Address::parse("10.9.9.9:1"), kNobodyV6 = *Address::parse("[2001:db8::1]:1");

LinkShape const kPlain = {.latency = 0.01, .jitter = 0, .bandwidth = 1e9};

/// Runs the test in a process. The process, and an unused address, have the name "here".
void simulated(Future<Void> (*test)()) {
    World world(1);
    SimNetwork network(world, kPlain);
    Process& process = world.start({.name = "p", .main = test});
    network.setName("here", {Address(process.address(), 0)});
    network.setName("slow", {kNobodyV6, Address(process.address(), 0)});
    network.setName("nowhere", {kNobodyV6, kNobody});
    world.run(process.onStop());
    CHECK(process.exit() == Error());
}

} // namespace

TEST_CASE("connect: to a name, and to the next address when one has not answered for a quarter of a second") {
    simulated([]() -> Future<Void> {
        Reference<Listener> listener = transport().listen(80);
        double before = now();
        Reference<Connection> client = co_await net::connect("here", 80);
        CHECK(now() - before < 0.1);
        CHECK(client->peerAddress() == listener->localAddress());
        Reference<Connection> first = co_await listener->accept();
        before = now();
        Reference<Connection> other = co_await net::connect("slow", 80);
        CHECK(now() - before > kAttemptDelay);
        CHECK(now() - before < kAttemptDelay + 0.1);
        Reference<Connection> second = co_await listener->accept();
        co_await askTimes(other, 0);
        co_await other->write("ping"_sr);
        Bytes ping = co_await second->readExactly(4);
        CHECK(ping == "ping"_sr);
    });
}

TEST_CASE("connect: an address that refuses is not waited for, and the error is the first one's") {
    simulated([]() -> Future<Void> {
        Reference<Listener> listener = transport().listen(80);
        Address here = listener->localAddress(), refusing = here.withPort(81);
        double before = now();
        std::vector<Address> refusingFirst = {refusing, here}, noGood = {refusing, kNobody}, one = {here};
        Reference<Connection> client = co_await connectAny(refusingFirst);
        CHECK(now() - before < 0.2);
        CHECK(client->peerAddress() == here);
        Error error = co_await endOf(connectAny(noGood));
        CHECK(error == connection_refused());
        error = co_await endOf(net::connect("unknown", 80));
        CHECK(error == lookup_failed());
        ConnectOptions hasty;
        hasty.timeout = 0.4;
        before = now();
        error = co_await endOf(net::connect("nowhere", 80, hasty));
        CHECK(error == connection_timed_out());
        CHECK(now() - before == doctest::Approx(0.4));
        ConnectOptions fromV6;
        fromV6.local = *Address::parse("[::1]:0");
        error = co_await endOf(connectAny(one, fromV6));
        CHECK(error == invalid_local_address());
    });
}

TEST_CASE("connect: the attempts that lose are cancelled, and a cancel cancels all") {
    simulated([]() -> Future<Void> {
        Reference<Listener> first = transport().listen(80), second = transport().listen(81);
        {
            std::vector<Address> both = {first->localAddress(), second->localAddress()};
            Reference<Connection> client = co_await connectAny(both);
            auto other = co_await race(second->accept(), delay(2));
            CHECK(other.index() == 1);
        }
        Future<Reference<Connection>> dropped = connectAny({kNobody, second->localAddress()});
        co_await delay(0.1);
        dropped = {};
        auto other = co_await race(second->accept(), delay(2));
        CHECK(other.index() == 1);
    });
}

TEST_CASE("connect: the families take turns") {
    Address a4(1, 1), b4(2, 1), c4(3, 1), a6 = *Address::parse("[::1]:1"), b6 = *Address::parse("[::2]:1");
    CHECK(interleaved({a4, b4, c4, a6, b6}) == std::vector<Address>{a4, a6, b4, b6, c4});
    CHECK(interleaved({a6, b6, a4}) == std::vector<Address>{a6, a4, b6});
}

TEST_CASE("connect: texts of a name and a port") {
    CHECK(parseNameAndPort("example.org:80")->name == "example.org");
    CHECK(parseNameAndPort("example.org:80")->port == 80);
    CHECK(parseNameAndPort("[::1]:80")->name == "::1");
    for (char const* wrong :
         {"", ":", ":80", "x", "x:", "x:65536", "x:-1", "::1:80", "[::1:80", "[x]:80", "[:80", "[]:1"})
        CHECK_FALSE(parseNameAndPort(wrong).has_value());
}

TEST_CASE("connect: to localhost, on the machine's network") {
    RealLoop loop;
    auto test = []() -> Future<Void> {
        Reference<Listener> listener = transport().listen(Address(0x7F000001, 0));
        // It also resolves to ::1, where nothing listens.
        Reference<Connection> client = co_await net::connect("localhost", listener->localAddress().port());
        Reference<Connection> server = co_await listener->accept();
        CHECK(server->peerAddress() == client->localAddress());
    };
    loop.run(test());
}
