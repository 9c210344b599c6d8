#include "net/rpc/load_balance.h"

#include "flow/compat/collection.h"
#include "flow/coro/coroutine.h"
#include "flow/memory/object.h"
#include "flow/sim/world.h"
#include "flow/wait/delay.h"
#include "net/sim/sim_network.h"
#include "net/transport.h"

#include <doctest/doctest.h>

#include <vector>

using namespace flow;
using namespace flow::net;

namespace {

struct Question {
    constexpr static FileIdentifier file_identifier = 401;
    int question = 0;
    ReplyPromise<int> reply;
    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, question, reply);
    }
};
struct Servers {
    RequestStream<Question> ask;
};

constexpr int kBalancedAsk = WLTOKEN_FIRST_AVAILABLE;

/// The questions to each server, by its number; and the seconds that each takes.
struct Played {
    int asked[3] = {0, 0, 0};
    double seconds[3] = {0, 0, 0};
};
Played played;

Future<Void> answer(Question ask, int number) {
    ++played.asked[number];
    co_await delay(played.seconds[number]);
    if (ask.question < 0)
        ask.reply.sendError(io_error());
    else
        ask.reply.send(number);
}

Future<Void> serve(int number) {
    rpc::Node node;
    Address at = net::transport().localAddress().withPort(4500);
    Future<Void> listening = node.bind(at, at);
    RequestStream<Question> ask;
    ask.makeWellKnownEndpoint(kBalancedAsk, TaskPriority::DefaultEndpoint);
    ActorCollection running;
    for (;;)
        running.add(answer(co_await ask.getFuture(), number));
}

World* world = nullptr;
Process* servers[3];

Reference<MultiInterface<Servers>> allServers() {
    std::vector<Servers> all;
    for (Process* each : servers)
        all.push_back(
            {RequestStream<Question>(Endpoint::wellKnown({Address(each->address(), 4500), {}}, kBalancedAsk))});
    return makeReference<MultiInterface<Servers>>(std::move(all));
}

void play(Future<Void> (*client)(Reference<MultiInterface<Servers>>)) {
    World made(1);
    SimNetwork network(made);
    world = &made;
    played = {};
    for (int i = 0; i < 3; ++i)
        servers[i] = &made.start({.name = "server", .main = [i] { return serve(i); }});
    Process& asking = made.start({.name = "client", .main = [client] { return client(allServers()); }});
    made.run(asking.onStop());
    REQUIRE(asking.exit());
    CHECK(!asking.exit()->isValid());
    made.stopAll();
    CHECK(made.leakedCells() == 0);
}

Question questionOf(int question) {
    Question ask;
    ask.question = question;
    return ask;
}

} // namespace

TEST_CASE("load balance: a request to a slow server also goes to another one") {
    play([](Reference<MultiInterface<Servers>> all) -> Future<Void> {
        played.seconds[0] = played.seconds[1] = 50;
        for (int i = 0; i < 10; ++i) {
            double begin = now();
            CHECK(co_await loadBalance(all, &Servers::ask, questionOf(1)) >= 0);
            CHECK(now() - begin <= 51);
        }
        CHECK(played.asked[2] > 0);
        CHECK(played.asked[0] + played.asked[1] + played.asked[2] > 10);
        // Without hedging each request is one.
        Played before = played;
        CHECK(co_await basicLoadBalance(all, &Servers::ask, questionOf(1)) >= 0);
        CHECK(played.asked[0] + played.asked[1] + played.asked[2] ==
              before.asked[0] + before.asked[1] + before.asked[2] + 1);
    });
}

TEST_CASE("load balance: servers that have failed are passed over, and waited for when all have") {
    play([](Reference<MultiInterface<Servers>> all) -> Future<Void> {
        world->kill(*servers[0]);
        world->kill(*servers[1]);
        for (int i = 0; i < 10; ++i)
            CHECK(co_await loadBalance(all, &Servers::ask, questionOf(1)) == 2);
        world->kill(*servers[2]);
        co_await delay(1);
        Future<int> answer = loadBalance(all, &Servers::ask, questionOf(1));
        co_await delay(10);
        CHECK(!answer.isReady());
        ErrorOr<int> once = co_await tryGet(
            loadBalance(all, &Servers::ask, questionOf(1), TaskPriority::DefaultPromiseEndpoint, AtMostOnce::True));
        CHECK(once.isError(error_code_request_maybe_delivered));
        world->start(*servers[1]);
        CHECK(co_await std::move(answer) == 1);
    });
}

TEST_CASE("load balance: a request that is dropped at any time leaves nothing, and later ones are answered") {
    play([](Reference<MultiInterface<Servers>> all) -> Future<Void> {
        played.seconds[0] = played.seconds[1] = 50; // so that some ask a second server
        for (double seconds : {0.0, 0.0001, 0.01, 1.0, 30.0, 70.0}) {
            Future<int> dropped = loadBalance(all, &Servers::ask, questionOf(1));
            Future<int> basic = basicLoadBalance(all, &Servers::ask, questionOf(1));
            if (seconds > 0)
                co_await delay(seconds);
            dropped = Future<int>();
            basic = Future<int>();
            CHECK(co_await loadBalance(all, &Servers::ask, questionOf(1)) >= 0);
        }
        // While all have failed it waits for one.
        for (Process* each : servers)
            world->kill(*each);
        Future<int> waiting = loadBalance(all, &Servers::ask, questionOf(1));
        co_await delay(10);
        waiting = Future<int>();
        world->start(*servers[1]);
        CHECK(co_await loadBalance(all, &Servers::ask, questionOf(1)) == 1);
    });
}

TEST_CASE("load balance: an error of the server is the answer") {
    play([](Reference<MultiInterface<Servers>> all) -> Future<Void> {
        ErrorOr<int> answer = co_await tryGet(loadBalance(all, &Servers::ask, questionOf(-1)));
        CHECK(answer.isError(error_code_io_error));
        CHECK(played.asked[0] + played.asked[1] + played.asked[2] == 1);
        ErrorOr<int> none = co_await tryGet(
            loadBalance(makeReference<MultiInterface<Servers>>(std::vector<Servers>()), &Servers::ask, Question()));
        CHECK(none.isError(error_code_operation_failed));
    });
}
