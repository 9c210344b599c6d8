// A process that writes numbers to a file and says of each when it is safe: "ledger" syncs before it says so, "canary"
// forgets that. The canary must be found out, or the harness finds nothing.
#include "flow/base/format.h"
#include "flow/coro/coroutine.h"
#include "flow/file/async_file.h"
#include "flow/sim/disk.h"
#include "flow/sim/simulation.h"
#include "flow/sim/world.h"
#include "flow/trace/code_probe.h"
#include "flow/wait/delay.h"

using namespace flow;

namespace {

constexpr int kRecord = 8;

Future<Void> write(World* world, int* acknowledged, bool forgetsSync) {
    Reference<AsyncFile> file = co_await files().open("/ledger", OpenMode::Create);
    co_await files().syncDirectory("/");
    int there = static_cast<int>(co_await file->size() / kRecord);
    FLOW_CODE_PROBE(there > *acknowledged, "a record is there that was not acknowledged");
    if (there < *acknowledged)
        world->fail(format("%d records were acknowledged, and %d are there", *acknowledged, there));
    for (int next = there + 1;; ++next) {
        co_await file->write(std::int64_t{kRecord} * (next - 1), format("%08d", next));
        if (!forgetsSync)
            co_await file->sync();
        *acknowledged = next;
        co_await delay(0.01 * deterministicRandom()->random01());
    }
}

/// The requirement on a disk: synced data is not damaged.
Faults honestDisk(Faults faults) {
    faults.diskMisdirectedWrite = faults.diskBitFlip = 0;
    return faults;
}

Future<Void> run(World& world, bool forgetsSync) {
    world.setFaults(honestDisk(world.faults()));
    int acknowledged = 0;
    auto main = [&]() -> Future<Void> { return write(&world, &acknowledged, forgetsSync); };
    Process& process = world.add({.name = "writer", .main = main, .restartAfter = 0.1});
    process.attach<ProcessDisk>(world);
    world.start(process);
    co_await delay(60);
    world.stopAll(); // its main refers to what is here
}

Future<Void> ledger(World& world) {
    return run(world, false);
}
Future<Void> canary(World& world) {
    return run(world, true);
}

Simulation const kLedger("ledger", ledger), kCanary("canary", canary);

} // namespace
