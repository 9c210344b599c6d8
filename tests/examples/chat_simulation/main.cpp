// chat_server PORT: the room on real sockets, until SIGINT or SIGTERM.

#include "flow/flow.h"
#include "net/serve.h"
#include "room.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>

using namespace flow;
using namespace flow::net;

int main(int argc, char** argv) {
    RealLoop loop;
    Room room;
    Reference<Listener> listener = transport().listen(static_cast<std::uint16_t>(argc > 1 ? std::atoi(argv[1]) : 0));
    std::printf("listening at %s\n", listener->localAddress().toString().c_str());
    std::fflush(stdout);
    Future<Void> stop = success(keep(signals({SIGINT, SIGTERM})));
    loop.run(serveUntil(listener, [&](Reference<Connection> guest) { return room.serve(guest); }, stop, 1.0));
}
