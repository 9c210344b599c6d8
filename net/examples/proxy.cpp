#include "net/examples/proxy.h"

#include "flow/flow.h"

using namespace flow;
using namespace flow::net;

namespace {

Future<Void> pass(Reference<Connection> from, Reference<Connection> to) {
    for (;;) {
        Bytes bytes = co_await from->read();
        if (bytes.empty()) {
            to->shutdownWrite();
            co_return;
        }
        co_await to->write(std::move(bytes)); // reads no more until the other side has room
    }
}

} // namespace

Future<Void> proxy(NameAndPort to, Reference<Connection> client) {
    Reference<Connection> server;
    try {
        server = co_await connect(to.name, to.port);
        Scope both;
        both.spawn(pass(client, server));
        both.spawn(pass(server, client));
        co_await both.join();
    } catch (Error& error) {
        client->abort();
        if (server)
            server->abort();
        throw;
    }
}
