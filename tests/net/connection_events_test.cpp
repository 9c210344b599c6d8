#include "net/detail/connection_events.h"

#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/sim/world.h"
#include "net/sim/sim_network.h"
#include "tests/net/transport_suite.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace {

std::ptrdiff_t linesWith(TraceMemory const& trace, std::string const& part) {
    return std::ranges::count_if(trace.lines(),
                                 [&](std::string const& line) { return line.find(part) != std::string::npos; });
}

Future<Void> connectAndClose() {
    Reference<Listener> listener = transport().listen(transport().localAddress());
    Address at = listener->localAddress();
    Reference<Connection> client = co_await transport().connect(at);
    Reference<Connection> server = co_await listener->accept();
    client->close();
    Bytes end = co_await server->read();
    CHECK(end.empty());
    server.clear();
    listener->close();
    Error refused = co_await endOf(transport().connect(at));
    CHECK(refused == connection_refused());
}

/// Returns the digest of the simulation.
std::uint64_t digestOfSimulated(Future<Void> (*test)()) {
    World world(7);
    SimNetwork network(world);
    Process& process = world.start({.name = "p", .main = test});
    world.run(process.onStop());
    CHECK(process.exit() == Error());
    return world.digest();
}

} // namespace

TEST_CASE("connection events: each success, failure and end is written at SevDebug") {
    auto test = []() -> Future<Void> {
        TraceMemory trace("off,net=debug");
        co_await connectAndClose();
        CHECK(linesWith(trace, R"("Severity":5,"Type":"Connected","Peer":")") == 1);
        CHECK(linesWith(trace, R"("Severity":5,"Type":"Accepted","Peer":")") == 1);
        CHECK(linesWith(trace, R"("Severity":5,"Type":"ConnectionEnded","Peer":")") == 2);
        CHECK(linesWith(trace, R"("Error":"operation_obsolete")") == 2);
        CHECK(linesWith(trace, R"("Severity":5,"Type":"ConnectFailed","Peer":")") == 1);
        CHECK(linesWith(trace, R"("Error":"connection_refused")") == 1);
        CHECK(linesWith(trace, R"(","Area":"net)") == 5);
        CHECK(trace.lines().size() == 5);
        trace.clear();
        trace.setLevels(SevInfo);
        co_await connectAndClose();
        CHECK(trace.lines().empty());
    };
    digestOfSimulated(test);
    RealLoop loop;
    loop.run(test());
}

TEST_CASE("connection events: a simulation is the same with them, and writes the same lines each time") {
    std::uint64_t without = digestOfSimulated(connectAndClose);
    TraceMemory trace(SevDebug);
    CHECK(digestOfSimulated(connectAndClose) == without);
    std::vector<std::string> first = trace.lines();
    CHECK_FALSE(first.empty());
    CHECK(first[0].starts_with(R"({"DateTime":"2020-01-01T00:00:0)"));
    trace.clear();
    CHECK(digestOfSimulated(connectAndClose) == without);
    CHECK(trace.lines() == first);
}
