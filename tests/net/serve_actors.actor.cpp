// A handler of serveUntil() in the actor language; serve_test.cpp has other styles.

#include "flow/flow.h"
#include "tests/net/serve_suite.h"

#include "flow/actorcompiler.h" // must be the last include

using namespace flow;
using namespace flow::net;

ACTOR Future<Void> serveLinesByActor(Reference<Connection> client, Event* ending, test::Work* work) {
    loop choose {
        when(state Bytes line = wait(client->readUntil("\n"_sr, 100))) {
            ++work->begun;
            wait(work->mayGoOn.wait());
            wait(client->write(line.withPrefix(ending->isSet() ? "last "_sr : "more "_sr)));
        }
        when(wait(ending->wait())) {
            return Void();
        }
    }
}
