#include "tests/net/tls/tls_support.h"

#include "flow/combine/all.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/sim/world.h"
#include "flow/wait/delay.h"
#include "net/sim/sim_network.h"
#include "net/tls/detail/tls_connection.h"
#include "net/transport.h"
#include "tests/net/transport_suite.h"

#include <doctest/doctest.h>

#include <string>

namespace flow::test {

std::string certificate(std::string const& name) {
    return std::string(MILLRACE_TEST_CERTIFICATES "/") + name + ".pem";
}

TlsIdentity identity(std::string const& name) {
    return {certificate(name), std::string(MILLRACE_TEST_CERTIFICATES "/") + name + ".key"};
}

TlsClientOptions clientOptions() {
    TlsClientOptions options;
    options.authorities = certificate("ca");
    return options;
}

TlsServerOptions serverOptions() {
    TlsServerOptions options;
    options.identities = {identity("server")};
    return options;
}

namespace {

Future<Void> shake(Future<Reference<TlsConnection>> shaking, Reference<TlsConnection>* connection, Error* error,
                   std::string* why) {
    ErrorOr<Reference<TlsConnection>> result = co_await tryGet(std::move(shaking));
    if (result.isError()) {
        *error = result.getError();
        *why = lastTlsError();
    } else {
        *connection = result.get();
    }
}

} // namespace

Future<Met> meet(Reference<TlsContext> client, Reference<TlsContext> server, std::string name,
                 Reference<Listener> listener) {
    if (!listener)
        listener = transport().listen(transport().localAddress());
    Pair pair;
    Future<Reference<Connection>> connecting = transport().connect(listener->localAddress());
    pair.server = co_await listener->accept();
    pair.client = co_await connecting;
    Met met;
    Future<Void> atServer =
        shake(tlsServer(std::move(pair.server), server), &met.server, &met.ofServer, &met.serverWhy);
    co_await shake(tlsClient(std::move(pair.client), client, name), &met.client, &met.ofClient, &met.clientWhy);
    co_await atServer;
    co_return met;
}

Future<Met> meet(TlsClientOptions const& client, TlsServerOptions const& server, std::string name) {
    return meet(TlsContext::client(client), TlsContext::server(server), std::move(name));
}

Future<Met> meet() {
    Met met = co_await meet(clientOptions(), serverOptions());
    REQUIRE(met.clientWhy == "");
    REQUIRE(met.serverWhy == "");
    co_return met;
}

void onBothNetworks(Future<Void> (*test)()) {
    {
        RealLoop loop;
        Error end = loop.run(endOf(test()));
        CHECK(std::string(end.name()) == "unset");
    }
    World world(1);
    SimNetwork network(world);
    Process& process = world.start({.name = "p", .main = test});
    network.setName("localhost", {Address(process.address(), 0)});
    world.run(process.onStop());
    CHECK(std::string(process.exit()->name()) == "unset");
    world.run(success(delay(60)));
    CHECK(network.openEnds() == 0);
    CHECK(world.leakedCells() == 0);
}

} // namespace flow::test
