#include "net/examples/proxy.h"

#include "flow/flow.h"
#include "net/relay.h"

using namespace flow;
using namespace flow::net;

Future<Void> proxy(NameAndPort to, Reference<Connection> client) {
    Reference<Connection> server = co_await connect(to.name, to.port);
    co_await relay(client, server);
}
