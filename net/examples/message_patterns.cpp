// message_patterns: the patterns of net/examples/patterns. Each part of a pattern is a program.
//
//     $ message_patterns broker tcp://127.0.0.1:5555 &
//     $ message_patterns broker-worker tcp://127.0.0.1:5555 echo &
//     $ message_patterns ask tcp://127.0.0.1:5555 echo hello
//     OK
//     hello
//
// Servers and workers send the question back as the answer. SIGTERM and SIGINT end them cleanly.

#include "net/examples/patterns/clone.h"
#include "net/examples/patterns/majordomo.h"
#include "net/examples/program.h"

using namespace flow;
using namespace flow::net;

namespace {

constexpr char kUsage[] =
    "server ENDPOINT | queue FRONT BACK | queue-worker BACK | broker ENDPOINT | broker-worker ENDPOINT SERVICE | "
    "ask ENDPOINT PART... | clone-server HOST PORT | clone HOST PORT [KEY VALUE]...  "
    "An ENDPOINT is such as tcp://127.0.0.1:5555, a HOST such as tcp://127.0.0.1";

Future<Message> same(Message question) {
    return question;
}

Future<Void> ask(Arguments arguments) {
    Asker asker(arguments[1]);
    Message question;
    for (std::size_t i = 2; i < arguments.size(); ++i)
        question.add(arguments[i]);
    Message answer = co_await asker.ask(std::move(question));
    for (std::string_view part : answer)
        std::printf("%.*s\n", static_cast<int>(part.size()), part.data());
}

CloneEndpoints endpointsOf(Arguments const& arguments) {
    auto port = parseNumber<std::uint16_t>(arguments[2]);
    if (!port || *port == 0 || *port > 65533)
        throw WrongArgument{"this is no port: " + arguments[2]};
    return CloneEndpoints::at(arguments[1], *port);
}

Future<Void> serveClones(CloneEndpoints endpoints) {
    CloneServer server(endpoints);
    co_await server.run();
}

/// Sets the keys and values of the arguments. Then prints the table whenever it has changed.
Future<Void> clone(CloneEndpoints endpoints, Arguments arguments) {
    Replica replica(endpoints);
    Scope scope;
    scope.spawn(replica.follow());
    for (std::size_t i = 3; i < arguments.size(); i += 2)
        co_await replica.set(arguments[i], arguments[i + 1]);
    for (Table printed;;) {
        if (replica.table() != printed) {
            printed = replica.table();
            for (auto const& [key, value] : printed)
                std::printf("%s=%s ", key.c_str(), value.c_str());
            std::printf("\n");
            std::fflush(stdout);
        }
        (void)co_await race(scope.join(), delay(0.05));
    }
}

Future<Void> start(Arguments const& arguments) {
    std::string const& what = arguments[0];
    std::size_t given = arguments.size() - 1;
    if (what == "server" && given == 1)
        return answerAll(arguments[1], same);
    if (what == "queue" && given == 2)
        return pirateQueue(arguments[1], arguments[2]);
    if (what == "queue-worker" && given == 1)
        return pirateWorker(arguments[1], same);
    if (what == "broker" && given == 1)
        return majordomo(arguments[1]);
    if (what == "broker-worker" && given == 2)
        return majordomoWorker(arguments[1], arguments[2], same);
    if (what == "ask" && given >= 2)
        return ask(arguments);
    if (what == "clone-server" && given == 2)
        return serveClones(endpointsOf(arguments));
    if (what == "clone" && given >= 2 && given % 2 == 0)
        return clone(endpointsOf(arguments), arguments);
    throw WrongArgument{std::string("usage: message_patterns ") + kUsage};
}

Future<Void> run(Arguments arguments) {
    Future<Void> work = start(arguments);
    (void)co_await race(std::move(work), signals({SIGTERM, SIGINT}));
}

} // namespace

int main(int argc, char** argv) {
    return runExample(argc, argv, kUsage, 2, 1000, run);
}
