#include "net/examples/proxy.h"

#include "flow/flow.h"
#include "net/relay.h"

#include "flow/actorcompiler.h"

using namespace flow;
using namespace flow::net;

ACTOR static Future<Void> proxying(NameAndPort to, Reference<Connection> client) {
    state Reference<Connection> server = wait(connect(to.name, to.port));
    wait(relay(client, server));
    return Void();
}

Future<Void> proxy(NameAndPort to, Reference<Connection> client) {
    return proxying(to, client);
}
