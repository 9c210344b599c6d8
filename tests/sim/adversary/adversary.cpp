// "adversary": a server with services of all kinds, healthy clients of it, and attackers beside them. See run.h.

#include "flow/base/format.h"
#include "flow/coro/coroutine.h"
#include "flow/sim/simulation.h"
#include "flow/wait/delay.h"
#include "net/sim/sim_network.h"
#include "tests/flow/support/temporary_directory.h"
#include "tests/net/costs.h"
#include "tests/sim/adversary/run.h"

#include <chrono>
#include <fstream>
#include <thread>

using namespace flow;
using namespace flow::net;

namespace adversary {
namespace {

constexpr double kAttack = 20; // seconds
constexpr int kHealthy = 2, kAttackers = 3;
constexpr int kLeastAnswers = 10;
/// The most memory that all processes hold, in bytes. An attack without a limit takes more.
constexpr std::int64_t kMemory = 20 << 20;
/// The most bytes that memmove() moves.
constexpr std::size_t kMoved = std::size_t{1} << 30;

/// The files of the HTTP server.
struct Files {
    test::TemporaryDirectory directory;
    Files() {
        write("/small", 100);
        write("/large", kLarge);
        // A new file has a weak ETag, which is longer: so the first run would differ from the second.
        std::this_thread::sleep_for(std::chrono::milliseconds(50)); // nondeterminism: before the first run
    }

private:
    void write(char const* name, std::size_t size) const {
        std::ofstream file(directory.path() + name);
        for (std::size_t i = 0; i < size; ++i)
            file << letterAt(i);
        FLOW_ASSERT(file.good(), "the directory of temporary files cannot be written");
    }
};

/// The faults that do no harm to a healthy client.
Faults harmless(Faults const& all) {
    Faults some;
    some.shortRead = all.shortRead;
    some.mergedRead = all.mergedRead;
    return some;
}

/// Memory and moved bytes of all processes. They differ between runs of a seed, so they are only compared with bounds.
class Costs {
public:
    std::optional<std::string> look(Run const& run) {
        if (++turns_ % 200 != 0)
            return {};
        bool isMuch = test::usedBytes() - used_ > kMemory;
        if (!isMuch && test::allMovedBytes() - moved_ < kMoved)
            return {};
        std::string text =
            isMuch ? "attackers make the server hold too much:" : "attackers make the server work too much:";
        for (std::string const& attack : run.attacks)
            text += " " + attack + ",";
        return text;
    }

private:
    std::int64_t used_ = test::usedBytes();
    std::size_t moved_ = test::allMovedBytes();
    unsigned turns_ = 0;
};

/// Ends the server in order.
Future<Void> end(Run& run, Process& server) {
    run.isEnding = true;
    double begin = now(), limit = run.attackersLeave ? kQuickEnd : kGrace + 1;
    while (server.isRunning() && now() - begin < limit)
        co_await delay(0.1);
    if (server.isRunning())
        run.world.fail("the server does not end in time\n" + run.world.waitGraph());
    else if (server.exit() != Error())
        run.world.fail("the server ends with an error");
}

Future<Void> adversary(World& world) {
    static Files const files;
    world.setFaults(harmless(world.faults()));
    SimNetwork network(world);
    Run run{.world = world, .directory = files.directory.path()};
    Costs costs;
    world.addInvariant([&costs, &run] { return costs.look(run); });
    Process& server = world.add({.name = "server", .main = [&run] { return runServer(run); }});
    Process& turncoat = world.add({.name = "turncoat", .main = [&run] { return runTurncoat(run); }});
    run.server = Address(server.address(), 0);
    run.turncoat = Address(turncoat.address(), 0);
    world.start(server);
    world.start(turncoat);
    for (int i = 0; i < kHealthy; ++i)
        world.start(
            {.name = format("healthy%d", i), .main = [&run, i] { return runHealthy(run, format("healthy%d", i)); }});
    co_await delay(1);
    for (int i = 0; i < kAttackers; ++i)
        world.start({.name = format("attacker%d", i), .main = [&run] { return runAttacker(run); }});
    if (deterministicRandom()->coinflip())
        world.slowDown(server, kAttack / 2, deterministicRandom()->randomChoice(std::vector{0.00002, 0.0002}));
    double kill = kAttack * deterministicRandom()->random01();
    bool isKilled = deterministicRandom()->coinflip();
    co_await delay(isKilled ? kill : kAttack);
    if (isKilled) {
        run.disturbedUntil = now() + kRecovery;
        world.reboot(server, 0.5);
        co_await delay(kAttack + kRecovery - kill);
    }
    if (deterministicRandom()->coinflip()) {
        run.attackersLeave = true;
        co_await delay(1);
    }
    co_await end(run, server);
    for (char const* service : {"echo", "http", "slow http", "DEALER", "REQ", "SUB", "rpc", "owners"})
        if (run.answers[service] < kLeastAnswers)
            world.fail(std::string(service) + ": too few answers");
    world.stopAll(); // their mains have references to locals of this function
}

Simulation const kAdversary("adversary", adversary);

} // namespace
} // namespace adversary
