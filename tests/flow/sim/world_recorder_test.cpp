#include "flow/sim/world_recorder.h"

#include "flow/coro/coroutine.h"
#include "flow/wait/delay.h"

#include <doctest/doctest.h>

using namespace flow;

namespace {

Future<Void> ticking() {
    for (;;)
        co_await delay(0.5);
}
Future<Void> marking() {
    co_await delay(1);
    trace::mark("in a process");
    co_await delay(100);
}
Future<Void> watchOver(World& world) {
    co_await delay(3);
    world.reboot(*world.processes()[0], 1);
    world.injected(FaultKind::processKill, 0);
    co_await delay(5);
}

} // namespace

TEST_CASE("world recorder: a track for each process, over its reboots, and the run is the same") {
    auto run = [](bool isRecorded) {
        World world(7);
        std::optional<WorldRecorder> recorder;
        if (isRecorded)
            recorder.emplace(world);
        world.start({.name = "ticker", .main = ticking});
        world.start({.name = "marker", .main = marking});
        world.run(watchOver(world));
        if (isRecorded) {
            std::string bytes = recorder->bytes();
            for (char const* text : {"ticker", "marker", "the world", "ticking", "in a process", "start", "end",
                                     faultName(FaultKind::processKill)})
                CHECK_MESSAGE(bytes.find(text) != std::string::npos, text);
            CHECK_THROWS_AS(recorder->writeTo("/nowhere/at/all"), Error);
        }
        return world.digest();
    };
    CHECK(run(true) == run(false));
}

TEST_CASE("world recorder: begins and ends while processes run") {
    World world(8);
    world.start({.name = "ticker", .main = ticking});
    world.run(delay(2));
    {
        WorldRecorder recorder(world, 1024);
        world.run(delay(2));
        CHECK(recorder.bytes().find("ticking") != std::string::npos);
    }
    world.run(delay(2));
}
