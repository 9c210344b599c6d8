#include "net/rpc/node.h"

#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/memory/object.h"
#include "flow/wait/delay.h"
#include "net/rpc/rpc.h"
#include "net/transport.h"
#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>

#include <string>

using namespace flow;
using namespace flow::net;

namespace {

struct Ping {
    constexpr static FileIdentifier file_identifier = 501;
    std::string text;
    ReplyPromise<std::string> reply;
    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, text, reply);
    }
};

} // namespace

TEST_CASE("flow transport: one of a loop, which ends with it") {
    test::Balance balance;
    RealLoop loop;
    {
        rpc::Node own;
        CHECK(&rpc::Node::current() == &own);
        CHECK(own.getLocalAddress() == Address());
    }
    rpc::Node& made = rpc::Node::ofLoop();
    CHECK(&rpc::Node::current() == &made);
    CHECK(&FailureMonitor::failureMonitor() == &made.failureMonitor());
}

TEST_CASE("flow transport: an address at which it cannot listen is an error of bind()") {
    RealLoop loop;
    rpc::Node node;
    Future<Void> first = node.bind(Address(0x7F000001, 0), Address(0x7F000001, 0));
    CHECK(!first.isReady());
    Address taken = node.getLocalAddress();
    CHECK(taken.port() != 0);
    CHECK(node.bind(taken, taken).getError().code() == error_code_address_in_use);
}

TEST_CASE("flow transport: over a Unix socket, without checksums, with connections of one's own") {
    test::Balance balance;
    RealLoop loop;
    loop.run([]() -> Future<Void> {
        int connected = 0;
        RpcOptions options;
        options.hasChecksums = false;
        options.connect = [&](Address const& to) {
            ++connected;
            return net::transport().connect(to, {});
        };
        rpc::Node node(options);
        Address at = Address::unixAbstract("millrace flow_transport_test");
        Future<Void> listening = node.bind(Address(0x7F000001, 1), at); // others get another address
        RequestStream<Ping> pings;
        pings.makeWellKnownEndpoint(WLTOKEN_FIRST_AVAILABLE, TaskPriority::DefaultEndpoint);
        auto answering = [](RequestStream<Ping> asked) -> Future<Void> {
            for (;;) {
                Ping ping = co_await asked.getFuture();
                ping.reply.send(ping.text);
            }
        }(pings);
        RequestStream<Ping> remote(Endpoint::wellKnown({at, {}}, WLTOKEN_FIRST_AVAILABLE));
        Ping ping;
        ping.text = "over there";
        CHECK(co_await remote.getReply(ping) == "over there");
        CHECK(connected == 1);
        CHECK(node.connections() == 1);
        CHECK(remote.queuedBytes() == 0);
        co_await remote.drainedTo(0);
    }());
}

TEST_CASE("flow transport: when it ends, nothing of the waiters for replies is left behind") {
    test::Balance balance;
    for (int turns : {0, 1, 2, 3, 5, 8, 1000}) {
        RealLoop loop;
        rpc::Node node;
        Future<Void> listening = node.bind(Address(), Address(0x7F000001, 0));
        Address at(0x7F000001, node.getLocalAddress().port());
        RequestStream<Ping> pings;
        pings.makeWellKnownEndpoint(WLTOKEN_FIRST_AVAILABLE, TaskPriority::DefaultEndpoint);
        RequestStream<Ping> remote(Endpoint::wellKnown({at, {}}, WLTOKEN_FIRST_AVAILABLE));
        Ping ping;
        Future<std::string> later = ping.reply.getFuture();
        remote.send(ping);
        Future<std::string> asked = remote.getReply();
        auto answering = [](RequestStream<Ping> served) -> Future<Void> {
            for (;;)
                (co_await served.getFuture()).reply.send("x");
        }(pings);
        auto some = [](int left) -> Future<Void> {
            for (; left > 0; --left)
                co_await delay(0, TaskPriority::Low);
        }(turns);
        loop.run(std::move(some));
    }
}

TEST_CASE("rpc node: what waits for a connection counts for drainedTo()") {
    test::Balance balance;
    for (bool canConnect : {true, false}) {
        RealLoop loop;
        loop.run([](bool canConnect) -> Future<Void> {
            Promise<Void> gate;
            RpcOptions options;
            options.connect = [&](Address const& to) -> Future<Reference<Connection>> {
                co_await gate.getFuture();
                co_return co_await net::transport().connect(to, {});
            };
            rpc::Node node(options);
            Address at = Address::unixAbstract("millrace node_test");
            Future<Void> listening = canConnect ? node.bind(Address(0x7F000001, 1), at) : Future<Void>(Void());
            RequestStream<Ping> pings;
            pings.makeWellKnownEndpoint(WLTOKEN_FIRST_AVAILABLE, TaskPriority::DefaultEndpoint);
            RequestStream<Ping> remote(Endpoint::wellKnown({at, {}}, WLTOKEN_FIRST_AVAILABLE));
            Ping ping;
            ping.text.resize(100'000);
            Future<ErrorOr<std::string>> reply = remote.tryGetReply(ping);
            Future<Void> ofStream = remote.drainedTo(1000), ofNode = node.drainedTo(at, 1000);
            CHECK(remote.drainedTo(200'000).isReady());
            co_await delay(0);
            CHECK_FALSE(ofStream.isReady());
            CHECK_FALSE(ofNode.isReady());
            gate.send(Void());
            co_await (ofStream && ofNode);
            CHECK(remote.queuedBytes() <= 1000);
        }(canConnect));
    }
}

TEST_CASE("rpc node: nothing is left of a request that has no reply, with copies of its promise or without") {
    test::Balance balance;
    for (bool hasCopies : {true, false}) {
        for (double seconds : {0.0, 0.02}) {
            RealLoop loop;
            loop.run([](bool hasCopies, double seconds) -> Future<Void> {
                rpc::Node node;
                Address at = Address::unixAbstract("millrace node_test");
                Future<Void> listening = node.bind(Address(0x7F000001, 1), at);
                RequestStream<Ping> pings;
                pings.makeWellKnownEndpoint(WLTOKEN_FIRST_AVAILABLE, TaskPriority::DefaultEndpoint);
                RequestStream<Ping> remote(Endpoint::wellKnown({at, {}}, WLTOKEN_FIRST_AVAILABLE));
                Ping ping;
                Future<std::string> copy = hasCopies ? ping.reply.getFuture() : Future<std::string>(Never());
                Future<ErrorOr<std::string>> reply = remote.tryGetReply(ping);
                co_await delay(seconds);
                CHECK_FALSE(reply.isReady());
                CHECK_FALSE(copy.isReady());
            }(hasCopies, seconds));
        }
    }
}
