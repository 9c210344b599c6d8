// What a simulation costs: a message of a hundred bytes from one process to another, without faults. A thousand
// millions by the nanoseconds of a pass are the messages that are simulated in a second.

#include "bench/run.h"
#include "flow/coro/coroutine.h"
#include "flow/memory/standalone.h"
#include "flow/sim/world.h"
#include "net/sim/sim_network.h"
#include "net/transport.h"

#include <cstring>

namespace bench {
namespace {

using namespace flow;

constexpr std::uint16_t kPort = 1;

Future<Void> readAll() {
    Reference<net::Listener> listener = net::transport().listen(kPort);
    Reference<net::Connection> connection = co_await listener->accept();
    for (;;) {
        net::Bytes bytes = co_await connection->read();
        if (bytes.empty())
            co_return;
    }
}

Future<Void> writeAll(Run* run, net::Address reader) {
    Reference<net::Connection> connection = co_await net::transport().connect(reader);
    net::Bytes message = makeString(100);
    std::memset(mutateString(message), 'm', 100);
    while (run->next())
        co_await connection->write(message);
}

void simulate(Run* run) {
    World world(1);
    net::SimNetwork network(world);
    Process& reader = world.start({.name = "reader", .main = readAll});
    net::Address address(reader.address(), kPort);
    world.start({.name = "writer", .main = [=] { return writeAll(run, address); }});
    world.run(reader.onStop());
    run->expect(!reader.exit()->isValid());
}

const PeerStyle library(kLibrary, {{"SimNetwork", simulate}});

} // namespace
} // namespace bench
