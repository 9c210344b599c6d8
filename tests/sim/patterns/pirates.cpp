// "lazy_pirate", "paranoid_pirate", "majordomo": the patterns of net/examples/patterns under the faults of a network
// and of processes.
#include "flow/coro/coroutine.h"
#include "net/examples/patterns/majordomo.h"
#include "tests/sim/patterns/questions.h"

namespace flow::net {
namespace {

std::optional<std::string> first(Message const& answer) {
    return std::string(answer[0]);
}

Future<Void> lazyPirate(World& world) {
    world.setFaults(ofNetworkAndProcesses(world.faults()));
    SimNetwork network(world);
    Questions questions(world, network);
    std::string server = questions.start("server", [&] { return answerAll("tcp://*:5001", questions.answer()); });
    questions.ask(server + ":5001", [](std::string const& text) { return Message(text); }, first);
    co_await questions.judge();
}

Future<Void> paranoidPirate(World& world) {
    world.setFaults(ofNetworkAndProcesses(world.faults()));
    SimNetwork network(world);
    Questions questions(world, network);
    std::string queue = questions.start("queue", [] { return pirateQueue("tcp://*:5001", "tcp://*:5002"); });
    for (int i = 0; i < 3; ++i)
        questions.start(format("worker%d", i), [&] { return pirateWorker(queue + ":5002", questions.answer()); });
    questions.ask(queue + ":5001", [](std::string const& text) { return Message(text); }, first);
    co_await questions.judge();
}

std::optional<std::string> afterStatus(Message const& answer) {
    if (answer[0] == "OK")
        return std::string(answer[1]);
    return {};
}

Future<Void> majordomoKeepsHouse(World& world) {
    world.setFaults(ofNetworkAndProcesses(world.faults()));
    SimNetwork network(world);
    Questions questions(world, network);
    std::string broker = questions.start("broker", [] { return majordomo("tcp://*:5001"); }) + ":5001";
    for (int i = 0; i < 4; ++i)
        questions.start(format("worker%d", i),
                        [&, i] { return majordomoWorker(broker, i % 2 == 0 ? "even" : "odd", questions.answer()); });
    auto make = [](std::string const& text) { return Message((text[0] - '0') % 2 == 0 ? "even" : "odd").add(text); };
    questions.ask(broker, make, afterStatus);
    co_await questions.judge();
}

Simulation const kLazyPirate("lazy_pirate", lazyPirate);
Simulation const kParanoidPirate("paranoid_pirate", paranoidPirate);
Simulation const kMajordomo("majordomo", majordomoKeepsHouse);

} // namespace
} // namespace flow::net
