// echo PORT: the same as echo.cpp, in the actor language.

#include "flow/flow.h"
#include "flow/wait/signals.h"
#include "net/examples/port.h"
#include "net/transport.h"

#include <csignal>
#include <cstdio>

#include "flow/actorcompiler.h"

using namespace flow;
using namespace flow::net;

ACTOR Future<Void> echo(Reference<Connection> connection) {
    try {
        loop {
            state Bytes bytes = wait(connection->read());
            if (bytes.empty())
                return Void();
            wait(connection->write(bytes));
        }
    } catch (Error& e) {
        if (!isConnectionError(e))
            throw;
    }
    return Void();
}

ACTOR Future<Void> serve(std::uint16_t port) {
    state Reference<Listener> listener = transport().listen(Address(0x7F000001, port));
    state SignalableActorCollection clients;
    state Future<int> stop = keep(signals({SIGTERM, SIGINT}));
    std::printf("listening at %s\n", listener->localAddress().toString().c_str());
    std::fflush(stdout);
    loop choose {
        when(Reference<Connection> connection = wait(listener->accept())) { clients.add(echo(connection)); }
        when(int number = wait(stop)) {
            (void)number;
            break;
        }
    }
    listener->close();
    choose {
        when(wait(clients.signal())) {}
        when(wait(delay(1.0))) {}
    }
    return Void();
}

int main(int argc, char** argv) {
    return runExample(argc, argv, serve);
}
