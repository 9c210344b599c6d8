#include "flow/sim/process.h"

#include "flow/flow.h"
#include "flow/sim/disk.h"
#include "flow/sim/world.h"
#include "tests/flow/support/death.h"

#include <doctest/doctest.h>

using namespace flow;

namespace {

Future<Void> passes(double seconds) {
    co_await delay(seconds);
}

Future<Void> makeFile() {
    (void)co_await files().open("f", OpenMode::Create);
}

} // namespace

TEST_CASE("process: without a disk it has no files, least of all those of the machine") {
    auto wrong = [] {
        World world(1);
        world.start({.name = "diskless", .main = makeFile});
        world.run(passes(1));
    };
    CHECK_DIES(wrong(), "the simulated process 'diskless' would use the files of the machine");
    World world(1);
    Process& process = world.add({.name = "p", .main = makeFile});
    process.attach<ProcessDisk>(world);
    world.start(process);
    world.run(passes(1));
    CHECK(process.exit() == Error());
}
