// The queue of the patterns of messages beside a client that never reads. tests/sim runs all patterns while parts of
// them end.
#include "flow/combine/all.h"
#include "flow/combine/timeout.h"
#include "flow/coro/coroutine.h"
#include "flow/sim/world.h"
#include "flow/wait/delay.h"
#include "net/examples/patterns/majordomo.h"
#include "net/sim/sim_network.h"
#include "tests/net/message/raw_peer.h"

#include <doctest/doctest.h>

#include <functional>
#include <string>

using namespace flow;
using namespace flow::net;

namespace {

Future<Message> same(Message question) {
    co_return question.own();
}

/// Asks as often as it can, as a REQ would, and reads no answer.
Future<Void> askAndNeverRead(std::string endpoint, std::string parts) {
    Reference<Connection> deaf = co_await connectRaw(endpoint, "REQ");
    std::string all;
    for (int i = 0; i < 100; ++i)
        all += parts;
    for (;;)
        co_await deaf->write(StringRef(all));
}

/// An honest client gets all its answers beside that one.
void askBeside(std::function<Future<Void>()> serve, Message const& question, std::string deafParts) {
    World world(1);
    SimNetwork network(world);
    Process& server = world.start({.name = "server", .main = serve});
    std::string endpoint = "tcp://" + Address(server.address(), 5555).toString();
    world.start({.name = "deaf", .main = [=] { return askAndNeverRead(endpoint, deafParts); }});
    auto ask = [](std::string endpoint, Message const& question) -> Future<Void> {
        co_await delay(2);
        Asker asker(endpoint);
        for (int i = 0; i < 10; ++i) {
            Message answer = co_await asker.ask(question);
            CHECK(answer[answer.parts() - 1] == "hello");
            co_await delay(0.1);
        }
    };
    Process& client = world.start({.name = "client", .main = [&] { return ask(endpoint, question); }});
    world.run(timeoutError(client.onStop(), 300));
    REQUIRE(client.exit());
    CHECK(client.exit() == Error());
}

std::string framesOf(Message const& message) {
    std::string frames;
    zmtp::appendFrame(frames, "", {.more = true});
    return frames.append(message.wire());
}

} // namespace

TEST_CASE("patterns: a client that never reads does not stop the paranoid pirates' queue") {
    askBeside(
        []() -> Future<Void> {
            co_await (pirateQueue("tcp://*:5555", "tcp://*:5556") && pirateWorker("tcp://127.0.0.1:5556", same));
        },
        Message("hello"), framesOf(Message(std::string(1000, 'x'))));
}

TEST_CASE("patterns: nor the broker of majordomo") {
    askBeside(
        []() -> Future<Void> {
            co_await (majordomo("tcp://*:5555") && majordomoWorker("tcp://127.0.0.1:5555", "echo", same));
        },
        Message("echo").add("hello"), framesOf(Message("nothing").add(std::string(1000, 'x'))));
}

TEST_CASE("patterns: nor a server that answers with REP") {
    askBeside([]() -> Future<Void> { co_await answerAll("tcp://*:5555", same); }, Message("hello"),
              framesOf(Message(std::string(1000, 'x'))));
}
