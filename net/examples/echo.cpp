#include "net/examples/echo.h"

#include "flow/flow.h"

using namespace flow;
using namespace flow::net;

Future<Void> echo(Reference<Connection> connection) {
    for (;;) {
        Bytes bytes = co_await connection->read();
        if (bytes.empty())
            co_return;
        co_await connection->write(bytes);
    }
}
