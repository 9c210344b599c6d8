#include "net/examples/take_over.h"

#include "net/real/hand_over.h"

#include <cstdio>

using namespace flow;
using namespace flow::net;

Future<Sockets> takeSockets(Address at, Address path) {
    Sockets sockets;
    ErrorOr<Reference<Connection>> before = co_await coro::outcome(transport().connect(path));
    if (before.present()) {
        sockets.before = before.get();
        HandedOver http = co_await receiveHandedOver(sockets.before);
        HandedOver successors = co_await receiveHandedOver(sockets.before);
        sockets.http = http.listener();
        sockets.successors = successors.listener();
    } else {
        sockets.http = transport().listen(at);
        sockets.successors = transport().listen(path);
    }
    co_return sockets;
}

/// Gives the sockets to a process. Ends when that process accepts.
static Future<Void> give(Reference<Connection> successor, Sockets sockets) {
    co_await sendListener(successor, sockets.http);
    co_await sendListener(successor, sockets.successors);
    co_await successor->readExactly(1);
}

Future<Void> replaced(Sockets sockets) {
    for (;;) {
        Reference<Connection> successor = co_await sockets.successors->accept();
        Future<Void> giving = timeoutError(give(successor, sockets), 10.0);
        ErrorOr<Void> given = co_await coro::outcome(std::move(giving));
        if (given.present()) {
            sockets.successors->close(); // the other process accepts there
            co_return;
        }
        std::printf("not replaced: %s\n", given.getError().what());
        std::fflush(stdout);
    }
}
