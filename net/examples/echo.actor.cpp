#include "net/examples/echo.h"

#include "flow/flow.h"

#include "flow/actorcompiler.h"

using namespace flow;
using namespace flow::net;

ACTOR static Future<Void> echoing(Reference<Connection> connection) {
    loop {
        state Bytes bytes = wait(connection->read());
        if (bytes.empty())
            return Void();
        wait(connection->write(bytes));
    }
}

Future<Void> echo(Reference<Connection> connection) {
    return echoing(connection);
}
