#include "flow/sim/simulation.h"
#include "flow/flow.h"
#include "flow/sim/linearizable.h"
#include "flow/sim/world.h"
#include "net/sim/sim_network.h"
#include "store.h"

using namespace flow;

namespace {

constexpr std::uint16_t kPort = 4500;
constexpr double kUnrest = 30, kPeace = 30; // seconds

/// Puts and gets for ever. An operation that is not answered in time may have taken effect, or may do so later.
Future<Void> work(std::vector<net::Address> replicas, History* history, int id, int* answered) {
    Store store(replicas);
    while (true) {
        std::string key = deterministicRandom()->coinflip() ? "a" : "b";
        if (deterministicRandom()->coinflip()) {
            std::string value = std::to_string(deterministicRandom()->randomUInt32());
            auto put = history->invoke(id, key, History::Put{value});
            ErrorOr<Void> done = co_await tryGet(timeoutError(store.put(key, value), 5));
            if (!done.isError()) {
                history->ok(put);
                ++*answered;
            }
        } else {
            auto get = history->invoke(id, key, History::Get{});
            ErrorOr<Optional<std::string>> found = co_await tryGet(timeoutError(store.get(key), 5));
            if (!found.isError()) {
                history->ok(get, found.get());
                ++*answered;
            }
        }
        co_await delayJittered(0.2);
    }
}

Future<Void> simulate(World& world) {
    net::SimNetwork network(world);
    History history;
    std::vector<net::Address> replicas;
    std::vector<Process*> servers;
    for (int i = 0; i < 3; ++i) {
        auto main = [] { return serveReplica(net::transport().localAddress().withPort(kPort)); };
        servers.push_back(&world.start({.name = format("replica%d", i), .main = main, .protectedFromFaults = true}));
        replicas.emplace_back(servers.back()->address(), kPort);
    }
    std::vector<int> answered(3);
    for (int i = 0; i < 3; ++i)
        world.start({.name = format("client%d", i),
                     .main = [&, i] { return work(replicas, &history, i, &answered[i]); },
                     .restartAfter = 0.5});

    co_await delay(kUnrest * deterministicRandom()->random01());
    world.kill(*servers[deterministicRandom()->randomInt(0, 3)]); // for good
    co_await delay(kUnrest);
    world.disableFaults();
    network.heal();
    for (auto& process : world.processes()) {
        if (!process->isRunning() && process->name().starts_with("client"))
            world.start(*process);
        world.resume(*process);
    }
    co_await delay(kPeace / 2); // until connections that have broken are made again
    std::vector<int> before = answered;
    co_await delay(kPeace / 2);
    world.stopAll();
    for (int i = 0; i < 3; ++i)
        if (answered[i] < before[i] + 10)
            world.fail(format("client%d gets too few answers from two of three replicas", i));
    if (LinearizabilityVerdict verdict = checkLinearizable(history); !verdict.ok())
        world.fail("not linearizable\n" + verdict.explanation);
}

Simulation const registered("store", simulate);

} // namespace
