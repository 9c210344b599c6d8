// A session of requests and responses over a connection in the actor language; session_test.cpp has other styles.

#include "flow/flow.h"
#include "tests/net/transport_suite.h"

#include <doctest/doctest.h>

#include "flow/actorcompiler.h" // must be the last include

using namespace flow;
using namespace flow::net;

namespace {

ACTOR Future<Bytes> ask(Reference<Connection> to, Bytes line) {
    wait(to->write(line));
    Bytes answer = wait(to->readUntil("\r\n"_sr, 100));
    return answer;
}

} // namespace

ACTOR Future<Void> runActorSession(int requests) {
    state test::Pair pair = wait(test::makePair());
    state Future<Void> echoing = test::echoOnce(pair.server);
    state int i = 0;
    for (; i < requests; ++i) {
        state Bytes line = StringRef("question " + std::to_string(i) + "\r\n");
        Bytes answer = wait(ask(pair.client, line));
        CHECK(answer == line);
    }
    pair.client->shutdownWrite();
    wait(echoing);
    return Void();
}
