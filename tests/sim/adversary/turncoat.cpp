// An address in the simulation "adversary" that has one owner after the other, each with a name of its own. None may
// get an answer to another one's question.

#include "flow/base/format.h"
#include "flow/combine/errors.h"
#include "flow/combine/race.h"
#include "flow/compat/wait_for_all.h"
#include "flow/coro/coroutine.h"
#include "flow/wait/delay.h"
#include "net/transport.h"
#include "tests/net/message/raw_peer.h"
#include "tests/sim/adversary/run.h"

#include <vector>

using namespace flow;
using namespace flow::net;

namespace adversary {
namespace {

constexpr double kTenure = 0.3; // seconds, at most

Future<Void> readAnswers(Run& run, Reference<Connection> connection, std::string name) {
    for (;;) {
        std::string part = co_await readRaw(connection);
        if (part.empty()) // before the answer of a REP
            continue;
        if (!part.starts_with(name + " "))
            run.world.fail(name + " gets the answer to the question of another owner of its address");
        ++run.answers["owners"];
    }
}

Future<Void> own(Run& run, Reference<Connection> connection, std::string name, bool isReq) {
    Future<Void> reading = success(errorOr(readAnswers(run, connection, name)));
    double end = now() + kTenure * deterministicRandom()->random01();
    for (int number = 0; now() < end; ++number) {
        std::string question = format("%s %d", name.c_str(), number);
        if (isReq)
            co_await sendRaw(connection, "", question);
        else
            co_await sendRaw(connection, question);
        if (deterministicRandom()->random01() < 0.3)
            co_await delay(0.05 * deterministicRandom()->random01());
        if (number > 20)
            break;
    }
    co_await race(reading, delayUntil(std::max(end, now())));
}

/// The server connects to it.
Future<Void> changeOwners(Run& run, Port port, std::string type) {
    Reference<Listener> listener = transport().listen(port);
    for (int owner = 0;; ++owner) {
        std::string name = format("owner%d", owner);
        auto accepting = acceptRaw(listener, type, name);
        ErrorOr<Reference<Connection>> connection = co_await errorOr(std::move(accepting));
        if (connection.isError())
            continue;
        co_await errorOr(own(run, connection.get(), name, type == "REQ"));
        if (deterministicRandom()->coinflip())
            connection.get()->abort();
    }
}

/// Answers questions of the server after a while.
Future<Void> answerLate(Run& run) {
    rpc::Node rpc;
    Future<Void> listening = rpc.bind(Address(), run.turncoat.withPort(kRpc));
    RequestStream<Ask> asked;
    asked.makeWellKnownEndpoint(kAsk, TaskPriority::DefaultEndpoint);
    for (;;) {
        Ask ask = co_await asked.getFuture();
        co_await delay(0.2 * deterministicRandom()->random01());
        ask.reply.send(ask.text);
    }
}

} // namespace

Future<Void> runTurncoat(Run& run) {
    std::vector<Future<Void>> all;
    all.push_back(changeOwners(run, kOwnedRouter, "DEALER"));
    all.push_back(changeOwners(run, kOwnedRep, "REQ"));
    all.push_back(answerLate(run));
    co_await waitForAll(all);
}

} // namespace adversary
