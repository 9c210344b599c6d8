#include "net/examples/echo.h"

#include "flow/fiber/fiber.h"
#include "flow/flow.h"

using namespace flow;
using namespace flow::net;

Future<Void> echo(Reference<Connection> connection) {
    return fiber::spawn([connection] {
        for (;;) {
            Bytes bytes = fiber::wait(connection->read());
            if (bytes.empty())
                return;
            fiber::wait(connection->write(bytes));
        }
    });
}
