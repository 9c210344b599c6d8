#include "flow/flow.h"
#include "flow/sim/simulation.h"
#include "flow/sim/world.h"
#include "net/sim/sim_network.h"
#include "net/transport.h"

using namespace flow;

namespace {

constexpr std::uint16_t kPort = 4000;

Future<Void> serveClient(Reference<net::Connection> client, int* total) {
    for (;;) {
        net::Bytes requests = co_await client->read();
        if (requests.empty())
            co_return;
        for (int i = 0; i < requests.size(); ++i) { // each byte requests one more
            ++*total;
            co_await client->write("k"_sr);
        }
    }
}

Future<Void> serve(int* total) {
    Reference<net::Listener> listener = net::transport().listen(kPort);
    Scope clients;
    for (;;) {
        Reference<net::Connection> client = co_await listener->accept();
        clients.spawn(errorOr(serveClient(client, total)));
    }
}

Future<Void> askOnce(net::Address server) {
    Reference<net::Connection> connection = co_await net::transport().connect(server);
    co_await connection->write("+"_sr);
    net::Bytes reply = co_await connection->read();
    if (reply.empty())
        throw connection_failed();
}

Future<Void> ask(net::Address server, int times, int* answered) {
    while (*answered < times) {
        ErrorOr<Void> result = co_await tryGet(timeoutError(askOnce(server), 1));
        if (!result.isError())
            ++*answered;
    }
}

Future<Void> adder(World& world) {
    net::SimNetwork network(world);
    int total = 0, answered = 0;
    Process& server =
        world.start({.name = "server", .main = [&] { return serve(&total); }, .protectedFromFaults = true});
    net::Address address(server.address(), kPort);
    Process& client = world.start(
        {.name = "client", .main = [&] { return ask(address, 100, &answered); }, .protectedFromFaults = true});
    while (client.isRunning())
        co_await delay(1);
    if (total != 100)
        world.fail(format("the server has counted %d", total));
    world.stopAll();
}

Simulation const registered("adder", adder);

} // namespace
