// "clone": replicas of a table under the faults of a network and of processes. What must hold: no replica has a value
// that nobody has set, and in peace all are equal to the server's table, with what was set last.
#include "net/examples/patterns/clone.h"

#include "flow/base/format.h"
#include "flow/combine/all.h"
#include "flow/coro/coroutine.h"
#include "flow/sim/simulation.h"
#include "flow/sim/world.h"
#include "flow/wait/delay.h"
#include "net/sim/sim_network.h"
#include "tests/sim/patterns/questions.h"

#include <cstdio>
#include <string>

namespace flow::net {
namespace {

constexpr double kPeace = 10; // seconds
constexpr int kReplicas = 3;

struct Tables {
    World& world;
    std::string server = {};
    CloneServer* original = nullptr;   // while it runs
    Replica* replicas[kReplicas] = {}; // likewise
    int sets[kReplicas] = {};          // how many each replica has asked for, in all of its lives
    bool isQuiet = false;              // no more of them
    std::string last[kReplicas] = {};  // what each has set last
};

Future<Void> serve(Tables& tables) {
    CloneServer server(CloneEndpoints::at("tcp://*", 5001));
    tables.original = &server;
    struct Gone {
        Tables* tables;
        ~Gone() { tables->original = nullptr; }
    } gone{&tables};
    co_await server.run();
}

/// What a replica has set last is there, or another one's value for the same key.
void checkLast(Tables& tables, int number) {
    std::string const& last = tables.last[number];
    auto found = tables.original->table().find(last.substr(last.size() - 1));
    std::string own = format(" of %d for", number);
    if (found == tables.original->table().end() ||
        (found->second != last && found->second.find(own) != std::string::npos))
        tables.world.fail(format("what replica %d has set last, in peace, is not there", number));
}

/// Each value names the client that has set it and the key: "3 of 1 for b".
Future<Void> setSome(Tables& tables, Replica& replica, int number) {
    for (; !tables.isQuiet;) {
        std::string key(1, static_cast<char>('a' + deterministicRandom()->randomInt(0, 6)));
        tables.last[number] = format("%d of %d for %s", tables.sets[number]++, number, key.c_str());
        co_await replica.set(key, tables.last[number]);
        co_await delay(0.5 * deterministicRandom()->random01());
    }
    co_await Future<Void>(Never());
}

Future<Void> replicate(Tables& tables, int number) {
    Replica replica(CloneEndpoints::at(tables.server, 5001));
    tables.replicas[number] = &replica;
    struct Gone {
        Replica** place;
        ~Gone() { *place = nullptr; }
    } gone{&tables.replicas[number]};
    co_await (replica.follow() && setSome(tables, replica, number));
}

void checkValues(Tables& tables, Table const& table) {
    for (auto const& [key, value] : table) {
        int set = -1, by = -1;
        char forKey = 0;
        int read = std::sscanf(value.c_str(), "%d of %d for %c", &set, &by, &forKey);
        if (read != 3 || key != std::string(1, forKey) || by >= kReplicas || set >= tables.sets[by])
            tables.world.fail("nobody has set " + key + " to \"" + value + '"');
    }
}

Future<Void> replicasConverge(World& world) {
    world.setFaults(ofNetworkAndProcesses(world.faults()));
    SimNetwork network(world);
    Tables tables{world};
    Questions processes(world, network);
    tables.server = processes.start("server", [&tables] { return serve(tables); });
    for (int i = 0; i < kReplicas; ++i)
        processes.start(format("replica%d", i), [&tables, i] { return replicate(tables, i); });
    co_await processes.makePeace();
    tables.isQuiet = true;
    co_await delay(kPeace);
    if (!tables.original)
        world.fail("the server does not run in peace");
    else if (tables.original->table().empty())
        world.fail("nothing was set in all of the peace");
    for (int i = 0; i < kReplicas && tables.original; ++i) {
        if (!tables.replicas[i] || tables.replicas[i]->table() != tables.original->table())
            world.fail(format("replica %d differs from the server's table", i));
        else
            checkValues(tables, tables.replicas[i]->table());
        checkLast(tables, i);
    }
    world.stopAll(); // their mains refer to what is here
}

Simulation const kClone("clone", replicasConverge);

} // namespace
} // namespace flow::net
