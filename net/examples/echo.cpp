#include "net/examples/echo.h"

#include "flow/flow.h"

using namespace flow;
using namespace flow::net;

Future<Void> echo(Reference<Connection> connection, Event* ending) {
    for (;;) {
        auto next = co_await race(connection->read(), ending->wait());
        if (next.index() == 1 || std::get<0>(next).empty())
            co_return;
        co_await connection->write(std::get<0>(std::move(next)));
    }
}
