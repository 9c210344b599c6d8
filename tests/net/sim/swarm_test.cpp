// Everything that can go wrong on a network, at once.
#include "flow/combine/errors.h"
#include "flow/compat/collection.h"
#include "flow/compat/wait_for_all.h"
#include "flow/coro/coroutine.h"
#include "flow/memory/standalone.h"
#include "flow/sim/world.h"
#include "flow/wait/delay.h"
#include "net/sim/sim_network.h"
#include "net/transport.h"
#include "tests/flow/support/sanitizers.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace flow;
using namespace flow::net;

namespace {

/// All-to-all chatter: each process sends small messages to all, over connections that it makes anew when they fail,
/// and datagrams. It continues after every failure.
Future<Void> hear(Reference<Connection> connection) {
    for (;;) {
        Bytes bytes = co_await connection->read(); // a statement of its own, because of gcc 12
        if (bytes.empty())
            co_return;
    }
}
Future<Void> hearAll() {
    Reference<Listener> listener = transport().listen(1);
    ActorCollection hearing(false);
    for (;;) {
        Reference<Connection> connection = co_await listener->accept();
        hearing.add(success(errorOr(hear(connection))));
    }
}
Future<Void> hearDatagrams() {
    Reference<DatagramSocket> socket = transport().bind(Address(0, 2));
    for (;;) {
        Datagram datagram = co_await socket->receive();
        if (datagram.bytes.size() > 1 && deterministicRandom()->coinflip()) {
            Bytes rest = datagram.bytes.substr(1);
            co_await socket->send(datagram.from, rest);
        }
    }
}
Future<Void> talkOnce(Address to, double pause) {
    Reference<DatagramSocket> socket = transport().bind(Address());
    Reference<Connection> connection = co_await transport().connect(to);
    for (int i = 0; i < 20; ++i) {
        Bytes bytes = makeString(deterministicRandom()->randomInt(1, 300));
        deterministicRandom()->randomBytes(mutateString(bytes), static_cast<std::size_t>(bytes.size()));
        co_await connection->write(bytes);
        co_await socket->send(to.withPort(2), bytes);
        co_await delay(pause * deterministicRandom()->random01());
    }
}
Future<Void> talk(Address to, double pause) {
    for (;;) {
        (void)co_await tryGet(talkOnce(to, pause));
        co_await delay(pause);
    }
}
Future<Void> chatter(int processes, double pause) {
    std::vector<Future<Void>> all;
    for (int i = 1; i <= processes; ++i)
        all.push_back(talk(Address(0x0A000000 + static_cast<std::uint32_t>(i), 1), pause));
    all.push_back(hearAll());
    all.push_back(hearDatagrams());
    co_await waitForAll(all);
}

std::uint64_t chatterDigest(std::uint64_t seed, Faults const& faults, double seconds, Record* record = nullptr,
                            FaultCounts* counts = nullptr, std::uint64_t* arrived = nullptr) {
    World world(seed, faults, record);
    SimNetwork network(world);
    constexpr int kProcesses = 4;
    for (int i = 0; i < kProcesses; ++i)
        world.start(
            {.name = "p" + std::to_string(i), .main = [] { return chatter(kProcesses, 0.1); }, .restartAfter = 1});
    world.run(delay(seconds));
    if (counts)
        *counts = world.faultCounts();
    if (arrived)
        *arrived = network.arrived();
    CHECK(world.leakedCells() == 0);
    return world.digest();
}

} // namespace

TEST_CASE("network: seeds of swarm, each with one digest") {
    constexpr std::uint64_t kSeeds = MILLRACE_UNDER_ASAN ? 20 : 50; // they are slow there
    FaultCounts total;
    std::uint64_t messages = 0;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        INFO(seed);
        Faults faults = Faults::swarm(seed);
        Record first;
        FaultCounts counts;
        std::uint64_t arrived = 0;
        std::uint64_t digest = chatterDigest(seed, faults, 20, &first, &counts, &arrived);
        Record second(first);
        CHECK(chatterDigest(seed, faults, 20, &second) == digest);
        second.finish();
        CHECK(second.difference().value_or("") == "");
        messages += arrived;
        for (std::size_t kind = 0; kind < kFaultKinds; ++kind)
            total[FaultKind(kind)] += counts[FaultKind(kind)];
    }
    CHECK(messages > 2'000 * kSeeds);
    for (FaultKind kind :
         {FaultKind::partitionOneWay, FaultKind::partitionTwoWay, FaultKind::clog, FaultKind::latencySpike,
          FaultKind::slowLink, FaultKind::connectionRefused, FaultKind::connectionHalfOpen, FaultKind::connectionReset,
          FaultKind::messageCorruption, FaultKind::shortRead, FaultKind::datagramLoss, FaultKind::datagramDuplicate,
          FaultKind::datagramReorder})
        CHECK_MESSAGE(total[kind] > 0, faultName(kind));
}
