#include "tests/net/rpc/two_processes.h"

#include "flow/combine/all.h"
#include "flow/combine/race.h"

#include <doctest/doctest.h>

using namespace flow;

namespace flow::test {

namespace {

constexpr std::uint16_t kPort = 4500;
World* world = nullptr;
net::SimNetwork* network = nullptr;
Process* serving = nullptr;

Future<Void> listenAndServe(net::RpcOptions options, std::function<Future<Void>()> serve) {
    net::rpc::Node node(options);
    net::Address at = net::transport().localAddress().withPort(kPort);
    Future<Void> listening = node.bind(at, at);
    Future<Void> served = serve();
    co_await (listening || served);
}

} // namespace

net::Address TwoProcesses::server() {
    return net::Address(serving->address(), kPort);
}

void TwoProcesses::run(std::function<Future<Void>()> serve, std::function<Future<Void>()> client,
                       net::RpcOptions const& options) {
    World made(1);
    net::SimNetwork cables(made);
    world = &made;
    network = &cables;
    serving = &made.start({.name = "server", .main = [=] { return listenAndServe(options, serve); }});
    Process& asking = made.start({.name = "client", .main = client});
    made.run(asking.onStop());
    CHECK(!made.failure());
    REQUIRE(asking.exit());
    CHECK(!asking.exit()->isValid());
    made.stopAll();
    CHECK(made.leakedCells() == 0);
}

void TwoProcesses::killServer() {
    world->kill(*serving);
}
void TwoProcesses::restartServer() {
    world->reboot(*serving);
}
void TwoProcesses::partition() {
    network->partition(*world->current(), *serving);
}
void TwoProcesses::heal() {
    network->heal();
}
void TwoProcesses::failAllocation(std::int64_t n) {
    world->failAllocation(*world->current(), n);
}
bool TwoProcesses::hasFailedAllocation() {
    return world->faultCounts()[FaultKind::allocationFailure] != 0;
}

} // namespace flow::test
