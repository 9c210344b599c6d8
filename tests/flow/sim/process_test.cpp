#include "flow/sim/process.h"

#include "flow/coro/coroutine.h"
#include "flow/file/async_file.h"
#include "flow/sim/disk.h"
#include "flow/sim/world.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/death.h"

#include <doctest/doctest.h>

#include <functional>

using namespace flow;

namespace {

Future<Void> spin() {
    for (;;)
        co_await yield();
}

Future<Void> makeFile() {
    (void)co_await files().open("f", OpenMode::Create);
}

} // namespace

TEST_CASE("process: without a disk it has no files, least of all those of the machine") {
    auto wrong = [] {
        World world(1);
        world.start({.name = "diskless", .main = makeFile});
        world.run(delay(1));
    };
    CHECK_DIES(wrong(), "the simulated process 'diskless' would use the files of the machine");
    World world(1);
    Process& process = world.add({.name = "p", .main = makeFile});
    process.attach<ProcessDisk>(world);
    world.start(process);
    world.run(delay(1));
    CHECK(process.exit() == Error());
}

TEST_CASE("process: main that throws before it gives a future has failed with that error") {
    World world(1);
    auto main = []() -> Future<Void> { throw io_error(); };
    Process& once = world.start({.name = "once", .main = main});
    Process& again = world.start({.name = "again", .main = main, .restartAfter = 1});
    Process& poor = world.start({.name = "poor", .main = [] { return delay(100); }});
    world.failAllocation(poor, 0);
    world.run(delay(3.5));
    CHECK(!once.isRunning());
    CHECK(once.exit() == io_error());
    CHECK(again.lives() == 4);
    CHECK(!poor.isRunning());
}

TEST_CASE("process: main that is missing or returns no future aborts") {
    auto start = [](std::function<Future<Void>()> main) {
        World world(1);
        world.start({.name = "p", .main = main});
        world.run(delay(1));
    };
    CHECK_DIES(start({}), "has no main");
    CHECK_DIES(start([] { return Future<Void>(); }), "gave an invalid future");
}

TEST_CASE("process: one that never lets time pass is reported, and so is the test itself") {
    for (bool inWorld : {false, true}) {
        World world(1);
        world.setLimit(100, 1000);
        if (!inWorld)
            world.start({.name = "spinner", .main = spin});
        CHECK_THROWS_AS(world.run(inWorld ? spin() : delay(5)), Error);
        REQUIRE(world.failure());
        INFO(world.failure()->text);
        CHECK(world.failure()->signature == "it runs more than # steps while no time passes");
        CHECK(world.failure()->text.ends_with(inWorld ? "spin of the world" : "spin of spinner"));
    }
}
