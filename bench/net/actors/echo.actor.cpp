// The echo server of bench/net/echo.cpp in the actor language.

#include "bench/net/echo.h"
#include "bench/run.h"
#include "flow/flow.h"

#include "flow/actorcompiler.h" // must be the last include

namespace MILLRACE_BACKEND_NAMESPACE {

using namespace flow;
using namespace flow::net;

ACTOR Future<Void> echo(Reference<Connection> connection) {
    try {
        loop {
            state Bytes bytes = wait(connection->read());
            if (bytes.empty())
                return Void();
            wait(connection->write(std::move(bytes)));
        }
    } catch (Error&) {
    }
    return Void();
}

ACTOR Future<Void> serve(Reference<Listener> listener, int connections) {
    state std::vector<Future<Void>> all;
    state int i = 0;
    for (; i < connections; ++i) {
        Reference<Connection> accepted = wait(listener->accept());
        all.push_back(echo(accepted));
    }
    wait(waitForAll(all));
    return Void();
}

// One back end is enough: what the system does takes nearly all of the time.
static const std::string style = bench::styleOf(MILLRACE_NAME(MILLRACE_BACKEND_NAMESPACE));
static const bool added = style == "actor" && bench::addOurEcho(style, serve);

} // namespace MILLRACE_BACKEND_NAMESPACE
