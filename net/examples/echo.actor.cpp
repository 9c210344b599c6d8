#include "net/examples/echo.h"

#include "flow/flow.h"

#include "flow/actorcompiler.h"

using namespace flow;
using namespace flow::net;

ACTOR static Future<Void> echoing(Reference<Connection> connection, Event* ending) {
    loop choose {
        when(state Bytes bytes = wait(connection->read())) {
            if (bytes.empty())
                return Void();
            wait(connection->write(bytes));
        }
        when(wait(ending->wait())) {
            return Void();
        }
    }
}

Future<Void> echo(Reference<Connection> connection, Event* ending) {
    return echoing(connection, ending);
}
