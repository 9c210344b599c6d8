#include "flow/flow.h"
#include "flow/sim/simulation.h"
#include "flow/sim/world.h"
#include "net/sim/sim_network.h"
#include "net/transport.h"

using namespace flow;

namespace {

constexpr std::uint16_t kPort = 4000;

/// Requests are numbered, one byte each, and one that comes again is not done again.
Future<Void> serveClient(Reference<net::Connection> client, int* total) {
    for (;;) {
        net::Bytes requests = co_await client->read();
        if (requests.empty())
            co_return;
        for (int i = 0; i < requests.size(); ++i) {
            if (requests[i] == *total)
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

Future<Void> askOnce(net::Address server, int number) {
    Reference<net::Connection> connection = co_await net::transport().connect(server);
    co_await connection->write(std::string(1, static_cast<char>(number)));
    net::Bytes reply = co_await connection->read();
    if (reply.empty())
        throw connection_failed();
}

Future<Void> ask(net::Address server, int times, int* answered) {
    while (*answered < times) {
        ErrorOr<Void> result = co_await tryGet(timeoutError(askOnce(server, *answered), 1));
        if (!result.isError())
            ++*answered;
    }
}

Future<Void> adderMended(World& world) {
    Faults faults = world.faults();
    faults.messageCorruption = 0; // that is for the checksums of a real protocol
    world.setFaults(faults);
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

Simulation const registered("adder-mended", adderMended);

} // namespace
