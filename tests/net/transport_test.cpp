#include "net/transport.h"

#include "flow/combine/all.h"
#include "flow/sim/sim_loop.h"
#include "flow/sim/world.h"
#include "flow/wait/delay.h"
#include "net/sim/sim_network.h"
#include "tests/flow/support/death.h"
#include "tests/net/transport_suite.h"

#include <doctest/doctest.h>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

TEST_CASE("transport: the simulated one does what every transport does") {
    for (TransportCase const& each : transportCases()) {
        INFO(each.name);
        World world(1);
        SimNetwork network(world);
        Process& process = world.start({.name = "p", .main = each.run});
        world.run(process.onStop());
        CHECK(process.exit() == Error());
        world.run(success(delay(30)));
        CHECK(network.openEnds() == 0);
        CHECK(world.leakedCells() == 0);
    }
}

TEST_CASE("transport: a loop without one says so") {
    auto ask = [] {
        SimLoop loop;
        transport();
    };
    CHECK_DIES(ask(), "make a World with a SimNetwork, or run the test with --real");
}
