// A TLS client that sends as fast as it can keeps a loop from nothing else.
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "net/transport.h"
#include "tests/net/tls/tls_support.h"
#include "tests/net/turns.h"

#include <doctest/doctest.h>

#include <thread>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace {

Future<Void> flood(Address server) {
    try {
        Reference<Connection> carrier = co_await transport().connect(server);
        Reference<TlsConnection> connection =
            co_await tlsClient(std::move(carrier), TlsContext::client(clientOptions()), "localhost");
        Bytes bytes = makeString(64 * 1024);
        for (;;)
            co_await connection->write(bytes);
    } catch (Error&) { // the server has had enough
    }
}

Future<Void> take(Reference<Connection> from, std::uint32_t size, Turns* turns) {
    while (!turns->isOver()) {
        Bytes bytes = co_await from->readExactly(size);
        turns->note(static_cast<std::size_t>(bytes.size()));
    }
}

Future<Void> serve(Reference<Listener> listener, std::uint32_t size) {
    Reference<Connection> carrier = co_await listener->accept();
    Reference<TlsConnection> server = co_await tlsServer(std::move(carrier), TlsContext::server(serverOptions()));
    Turns turns;
    Future<Void> taking = take(server, size, &turns);
    co_await turns.watch();
    turns.check(1);
    taking.cancel();
    server->abort();
}

TEST_CASE("TLS fairness: a client that floods a server") {
    for (std::uint32_t size : {20, 1000, 200'000}) {
        CAPTURE(size);
        RealLoop loop;
        Reference<Listener> listener = transport().listen(Address(0x7F000001, 0));
        std::thread flooding([to = listener->localAddress()] {
            RealLoop other;
            other.run(flood(to));
        });
        loop.run(serve(listener, size));
        flooding.join();
    }
}

} // namespace
