#include "net/serve.h"

#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/memory/standalone.h"
#include "flow/sim/world.h"
#include "flow/wait/delay.h"
#include "net/sim/sim_network.h"
#include "tests/net/transport_suite.h"

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace {

/// Runs the test on the real network and on a simulated one.
void onBoth(Future<Void> (*test)()) {
    {
        RealLoop loop;
        loop.run(test());
    }
    World world(1);
    SimNetwork network(world);
    Process& process = world.start({.name = "p", .main = test});
    world.run(process.onStop());
    CHECK(process.exit() == Error());
}

Future<Void> failing(Reference<Connection> connection) {
    co_await connection->readExactly(4);
    throw connection_failed();
}

} // namespace

TEST_CASE("serve: serves all clients, also after one of them has failed") {
    onBoth([]() -> Future<Void> {
        Reference<Listener> listener = transport().listen(transport().localAddress());
        Promise<Void> stop;
        Future<Void> serving = serveUntil(listener, failing, stop.getFuture(), 1);
        for (int i = 0; i < 3; ++i) {
            Reference<Connection> client = co_await transport().connect(listener->localAddress());
            co_await client->write("four"_sr);
            std::string rest = co_await readAll(client);
            CHECK(rest.empty());
        }
        CHECK_FALSE(serving.isReady());
        stop.send(Void());
        co_await serving;
    });
}

TEST_CASE("serve: the report of an error names the server's address") {
    static std::vector<std::string> reports;
    reports.clear();
    DroppedErrorHandler before = setDroppedErrorHandler(
        [](const char* where, Error error) { reports.push_back(std::string(error.name()) + " of " + where); });
    onBoth([]() -> Future<Void> {
        Reference<Listener> listener = transport().listen(transport().localAddress());
        Promise<Void> stop;
        auto broken = [](Reference<Connection> connection) -> Future<Void> {
            co_await connection->readExactly(4);
            throw io_error();
        };
        Future<Void> serving = serveUntil(listener, broken, stop.getFuture(), 1);
        Reference<Connection> client = co_await transport().connect(listener->localAddress());
        co_await client->write("four"_sr);
        co_await readAll(client);
        CHECK(reports.back() == "io_error of the server at " + listener->localAddress().toString());
        stop.send(Void());
        co_await serving;
    });
    CHECK(reports.size() == 2);
    setDroppedErrorHandler(before);
}

TEST_CASE("serve: when it stops it accepts no client, drains, and cancels after its grace") {
    onBoth([]() -> Future<Void> {
        Reference<Listener> listener = transport().listen(transport().localAddress());
        Promise<Void> stop;
        Future<Void> serving = serveUntil(listener, echoOnce, stop.getFuture(), 0.3);
        Reference<Connection> client = co_await transport().connect(listener->localAddress());
        co_await askTimes(client, 1);
        stop.send(Void());
        co_await delay(0.05);
        Error refused = co_await endOf(transport().connect(listener->localAddress()));
        CHECK(refused == connection_refused());
        co_await askTimes(client, 1); // it still serves
        double before = now();
        co_await serving;
        CHECK(now() - before < 5);
        std::string rest = co_await readAll(client);
        CHECK(rest.empty());
    });
}

TEST_CASE("serve: when it stops, clients get what was written to them, unless they take longer than its grace") {
    for (bool reads : {true, false}) {
        RealLoop loop;
        auto test = [](bool reads) -> Future<Void> {
            Reference<Listener> listener = transport().listen(transport().localAddress());
            auto writeMuch = [](Reference<Connection> connection) -> Future<Void> {
                Bytes much = makeString(8 << 20);
                std::memset(mutateString(much), 'x', 8 << 20);
                (void)connection->write(std::move(much)); // the connection is closed with most of it in its queue
                co_return;
            };
            Promise<Void> stop;
            Future<Void> serving = serveUntil(listener, writeMuch, stop.getFuture(), reads ? 1000 : 0.05);
            Reference<Connection> client = co_await transport().connect(listener->localAddress());
            co_await client->readExactly(1);
            stop.send(Void());
            co_await delay(0.01);
            if (reads) {
                CHECK_FALSE(serving.isReady());
                std::string rest = co_await readAll(client);
                CHECK(rest.size() == std::size_t{(8 << 20) - 1});
            }
            co_await serving;
        };
        loop.run(test(reads));
    }
}

TEST_CASE("serve: it ends at once when all have ended, and with the error of what stops it") {
    onBoth([]() -> Future<Void> {
        Reference<Listener> listener = transport().listen(transport().localAddress());
        Future<Void> serving = serveUntil(listener, echoOnce, delay(0.01), 1000);
        double before = now();
        co_await serving;
        CHECK(now() - before < 100);
        Error error = co_await endOf(
            serveUntil(transport().listen(transport().localAddress()), echoOnce, Future<Void>(timed_out()), 1000));
        CHECK(error == timed_out());
    });
}
