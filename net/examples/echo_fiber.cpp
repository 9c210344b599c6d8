#include "net/examples/echo.h"

#include "flow/fiber/fiber.h"
#include "flow/flow.h"

using namespace flow;
using namespace flow::net;

Future<Void> echo(Reference<Connection> connection, Event* ending) {
    return fiber::spawn([connection, ending] {
        for (;;) {
            auto next = fiber::wait(race(connection->read(), ending->wait()));
            if (next.index() == 1 || std::get<0>(next).empty())
                return;
            fiber::wait(connection->write(std::get<0>(std::move(next))));
        }
    });
}
