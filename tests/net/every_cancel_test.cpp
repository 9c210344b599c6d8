// Every operation of net, cancelled at each step on the simulated network: it takes nothing with it, nothing is left of
// it, and a later operation continues where it stopped. tests/flow/combine/every_cancel_test.cpp has flow's.
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

constexpr int kSteps = 60;
/// Every other step is a turn of the loop alone; the others are longer and longer.
double secondsOf(int step) {
    return step % 2 == 0 ? 0 : 0.0005 * (1 + step * step / 60);
}

/// What was seen of one kind.
struct Counts {
    int cut = 0, ended = 0;
    std::string wrong;
};

Future<Void> cancelAfter(SceneKind const& kind, int steps, bool byDropping, Counts* counts) {
    std::unique_ptr<Scene> scene = kind.make();
    co_await scene->prepare();
    Future<Void> operation = scene->operation(), others = scene->others();
    for (int i = 0; i < steps; ++i)
        co_await delay(secondsOf(i));
    ++(operation.isReady() ? counts->ended : counts->cut);
    if (!byDropping && !operation.isReady()) {
        operation.cancel();
        if (!operation.isError() || operation.getError() != actor_cancelled())
            counts->wrong = "the result does not say that it was cancelled";
    }
    operation = Future<Void>();
    std::string wrong = co_await scene->rest();
    if (!wrong.empty())
        counts->wrong = wrong;
    co_await others;
}

void cancelEverywhere(SceneKind const& kind) {
    Counts counts;
    for (bool byDropping : {false, true})
        for (int steps = 0; steps < kSteps && counts.wrong.empty(); ++steps) {
            INFO("after ", steps, " steps");
            Blocks blocks;
            {
                World world(1);
                SimNetwork network(world, {.latency = 0.001, .jitter = 0, .bandwidth = 1e8});
                Process& process =
                    world.add({.name = "p", .main = [&] { return cancelAfter(kind, steps, byDropping, &counts); }});
                network.setName(kSceneName, {Address(process.address(), 0)});
                world.start(process);
                world.run(delay(60));
                CHECK(process.exit() == Error()); // not that it still waits
                world.kill(process);
                CHECK(network.openEnds() == 0);
                CHECK(world.leakedCells() == 0);
            }
            CHECK(blocks.leaked() == 0);
        }
    CHECK(counts.wrong == "");
    CHECK(counts.cut > 2);
    CHECK(counts.ended > 2);
}

} // namespace

TEST_CASE("net, every cancel: what is cancelled at any step takes nothing and leaves nothing") {
    for (SceneKind const& kind : sceneKinds()) {
        INFO(std::string(kind.name));
        cancelEverywhere(kind);
    }
}
