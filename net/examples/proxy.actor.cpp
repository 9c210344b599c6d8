#include "net/examples/proxy.h"

#include "flow/flow.h"

#include "flow/actorcompiler.h"

using namespace flow;
using namespace flow::net;

ACTOR static Future<Void> pass(Reference<Connection> from, Reference<Connection> to) {
    loop {
        state Bytes bytes = wait(from->read());
        if (bytes.empty()) {
            to->shutdownWrite();
            return Void();
        }
        wait(to->write(std::move(bytes))); // reads no more until the other side has room
    }
}

ACTOR static Future<Void> proxying(NameAndPort to, Reference<Connection> client) {
    state Reference<Connection> server;
    try {
        Reference<Connection> connected = wait(connect(to.name, to.port));
        server = connected;
        wait(pass(client, server) && pass(server, client));
    } catch (Error& error) {
        client->abort();
        if (server)
            server->abort();
        throw error;
    }
    return Void();
}

Future<Void> proxy(NameAndPort to, Reference<Connection> client) {
    return proxying(to, client);
}
