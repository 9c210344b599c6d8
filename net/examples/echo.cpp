// echo PORT: sends back to each who connects what it sends, as coroutines. Ends cleanly on SIGTERM and SIGINT.
//
//     $ echo 4500 &
//     $ printf hello | nc -N 127.0.0.1 4500
//     hello

#include "flow/flow.h"
#include "flow/wait/signals.h"
#include "net/examples/port.h"
#include "net/serve.h"

#include <csignal>
#include <cstdio>

using namespace flow;
using namespace flow::net;

namespace {

Future<Void> echo(Reference<Connection> connection) {
    for (;;) {
        Bytes bytes = co_await connection->read();
        if (bytes.empty())
            co_return;
        co_await connection->write(bytes);
    }
}

Future<Void> serve(std::uint16_t port) {
    Reference<Listener> listener = transport().listen(Address(0x7F000001, port));
    Future<int> stop = keep(signals({SIGTERM, SIGINT}));
    std::printf("listening at %s\n", listener->localAddress().toString().c_str());
    std::fflush(stdout);
    co_await serveUntil(listener, echo, success(stop), 1.0);
}

} // namespace

int main(int argc, char** argv) {
    return runExample(argc, argv, serve);
}
