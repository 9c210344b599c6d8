#include "net/datagram_socket.h"

#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/sim/world.h"
#include "net/real/real_network.h"
#include "net/sim/sim_network.h"
#include "net/transport.h"

#include <doctest/doctest.h>

using namespace flow;
using namespace flow::net;

namespace {

Future<Void> receiveInOrder() {
    Address any = transport().localAddress();
    Reference<DatagramSocket> to = transport().bind(any), from = transport().bind(any);
    Future<Datagram> oldest = keep(to->receive()), cancelled = keep(to->receive()), last = keep(to->receive());
    cancelled = Future<Datagram>();
    co_await from->send(to->localAddress(), "first"_sr);
    Datagram first = co_await oldest;
    CHECK(first.bytes == "first"_sr);
    CHECK_FALSE(last.isReady());
    co_await from->send(to->localAddress(), "second"_sr);
    Datagram second = co_await last;
    CHECK(second.bytes == "second"_sr);
}

} // namespace

TEST_CASE("datagram socket: the oldest receive that waits is served first, and a cancelled one takes nothing") {
    World world(1);
    SimNetwork simulated(world);
    Process& process = world.start({.name = "p", .main = receiveInOrder});
    world.run(process.onStop());
    CHECK(process.exit() == Error());
}

TEST_CASE("datagram socket: so on the real network") {
    RealLoop loop;
    RealNetwork network(loop);
    loop.run(receiveInOrder());
}
