// Every allocation of every operation of net fails once, on the simulated network: waiters get an error, nothing is
// left of it, and the same works again afterwards. tests/flow/combine/exhaustion_test.cpp has flow's.
#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/sim/world.h"
#include "flow/wait/delay.h"
#include "net/sim/sim_network.h"
#include "tests/flow/support/trace_log.h"
#include "tests/net/scenes.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace {

Future<std::string> whole(std::unique_ptr<Scene> scene) {
    co_await scene->prepare();
    Future<Void> operation = scene->operation(), others = scene->others();
    co_await operation;
    std::string wrong = co_await scene->rest();
    co_await others;
    co_return wrong;
}

/// Allocation number n fails, if there are so many; then all of it once more.
Future<Void> failAt(SceneKind const& kind, World& world, std::int64_t n) {
    world.failAllocation(*world.current(), n);
    try {
        auto first = co_await race(whole(kind.make()), delay(20)); // a side without its partner waits
        (void)first;
    } catch (...) {
        CHECK(world.faultCounts()[FaultKind::allocationFailure] == 1); // or it fails for another reason
    }
    world.failAllocation(*world.current(), -1);
    auto again = co_await race(whole(kind.make()), delay(20));
    CHECK(again.index() == 0);
    if (again.index() == 0)
        CHECK(std::get<0>(again) == "");
}

void failEverywhere(SceneKind const& kind) {
    std::uint64_t failures = 0;
    for (std::int64_t n = 0;; ++n) {
        INFO("allocation ", n);
        Blocks blocks;
        bool hasFailed = false;
        {
            World world(1);
            SimNetwork network(world, {.latency = 0.001, .jitter = 0, .bandwidth = 1e8});
            Process& process = world.add({.name = "p", .main = [&] { return failAt(kind, world, n); }});
            network.setName(kSceneName, {Address(process.address(), 0)});
            world.start(process);
            world.run(delay(100));
            INFO("exit ", process.exit() ? std::string(process.exit()->name()) : std::string("waits"));
            CHECK(process.exit() == Error());
            hasFailed = world.faultCounts()[FaultKind::allocationFailure] != 0;
            failures += hasFailed;
            world.kill(process);
            CHECK(network.openEnds() == 0);
            CHECK(world.leakedCells() == 0);
        }
        CHECK(blocks.leaked() == 0);
        if (!hasFailed)
            break;
    }
    CHECK(failures >= 2);
}

} // namespace

TEST_CASE("net, exhaustion: each allocation of each operation fails once") {
    for (SceneKind const& kind : sceneKinds()) {
        INFO(std::string(kind.name));
        failEverywhere(kind);
    }
}
