// Lines (flow/file/lines.h) of a connection.
#include "flow/coro/coroutine.h"
#include "flow/file/lines.h"
#include "flow/loop/real_loop.h"
#include "net/transport.h"

#include <doctest/doctest.h>

#include <string>

using namespace flow;
using namespace flow::net;

namespace {

Future<std::string> linesOfConnection() {
    Reference<Listener> listener = transport().listen(Address(0x7F000001, 0));
    Reference<Connection> client = co_await transport().connect(listener->localAddress());
    Reference<Connection> server = co_await listener->accept();
    co_await client->write("one\r\ntwo\nthree"_sr);
    client->shutdownWrite();
    Lines lines(server, 100);
    std::string all;
    while (Optional<std::string> line = co_await lines.next())
        all += *line + ".";
    co_return all;
}

} // namespace

TEST_CASE("lines: of a connection") {
    RealLoop loop;
    CHECK(loop.run(linesOfConnection()) == "one.two.three.");
}
