#include "flow/sim/detail/inject.h"

#include "flow/base/format.h"
#include "flow/coro/coroutine.h"
#include "flow/sim/world.h"
#include "flow/wait/delay.h"

#include <doctest/doctest.h>

#include <set>
#include <vector>

using namespace flow;

namespace {

/// What a loss of power may wait for.
struct Risk final : Attachment {
    unsigned risks() const override { return isThere ? possibleRisks() : 0; }
    unsigned possibleRisks() const override { return kUnsyncedWrite | kUnsyncedWrites | kUnsyncedName; }
    bool isThere = false;
};

} // namespace

TEST_CASE("inject: a blackout takes several processes at once, and spares protected ones") {
    struct Ends final : Attachment {
        explicit Ends(std::multiset<double>& ends) : times(ends) {}
        void stopped(Process& process, bool powerLost) override {
            if (powerLost)
                times.insert(process.world().now());
        }
        std::multiset<double>& times;
    };
    Faults faults;
    faults.blackout = 0.01;
    std::multiset<double> ends;
    World world(1, faults);
    for (int i = 0; i < 5; ++i) {
        Process& process = world.add({.name = format("p%d", i), .main = [] { return delay(1e9); }});
        process.attach<Ends>(ends);
        world.start(process);
    }
    Process& safe = world.start({.name = "safe", .main = [] { return delay(1e9); }, .protectedFromFaults = true});
    world.run(delay(200));
    std::set<double> moments(ends.begin(), ends.end());
    CHECK(moments.size() >= 3);
    CHECK(moments.size() == world.faultCounts()[FaultKind::blackout]);
    CHECK(ends.size() > 3 * moments.size() / 2);
    CHECK(safe.lives() == 1);
}

TEST_CASE("inject: no fault starts a process that was stopped") {
    Faults faults = {.blackout = 0.1, .addressSwap = 0.1};
    World world(1, faults);
    Process& stopped = world.start({.name = "stopped", .main = [] { return delay(1e9); }});
    Process& other = world.start({.name = "other", .main = [] { return delay(1e9); }});
    world.kill(stopped);
    world.run(delay(1000));
    CHECK(other.lives() > 10);
    CHECK(stopped.lives() == 1);
}

TEST_CASE("inject: a process that ends in the moment of a loss of power stays down") {
    Faults faults;
    faults.powerLoss = 0.5;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        World world(seed, faults);
        Risk* risk = nullptr;
        int ends = 0;
        auto main = [&]() -> Future<Void> {
            co_await delay(10); // most probably it is to lose power by then
            risk->isThere = true;
            ++ends;
        };
        Process& process = world.add({.name = "p", .main = main});
        risk = &process.attach<Risk>();
        world.start(process);
        world.run(delay(1000));
        CHECK(ends == 1);
        CHECK(!process.isRunning());
    }
}

TEST_CASE("inject: a loss of power that is to come is forgotten where there shall be none") {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        Faults faults;
        faults.powerLoss = 0.5;
        World world(seed, faults);
        Process& process = world.add({.name = "p", .main = [] { return Future<Void>(Never()); }});
        Risk& risk = process.attach<Risk>();
        world.start(process);
        world.run(delay(20)); // most probably it is to lose power by now
        world.disableFaults();
        world.run(delay(100));
        int lives = process.lives();
        faults.powerLoss = 1e-9;
        world.setFaults(faults);
        risk.isThere = true;
        process.post([] {});
        world.run(delay(1));
        CHECK(process.lives() == lives);
    }
}

TEST_CASE("inject: what injects by the second injects the same whatever else is left out") {
    auto jumps = [](FaultFilter filter) {
        Faults faults{.processKill = 0.1, .processSlow = 0.2, .systemClockJump = 0.2};
        World world(1, faults);
        world.setFilter(std::move(filter));
        for (int i = 0; i < 3; ++i)
            world.start({.name = "p", .main = [] { return Future<Void>(Never()); }});
        world.run(delay(60));
        std::vector<double> ahead;
        for (auto& process : world.processes())
            ahead.push_back(process->clock().systemAt(now()));
        return std::pair(ahead, world.faultCounts()[FaultKind::systemClockJump]);
    };
    auto [ahead, count] = jumps({.without = SomeFaults::parse("processKill")});
    CHECK(count > 20);
    CHECK(jumps({.without = SomeFaults::parse("processKill,processSlow")}) == std::pair(ahead, count));
    CHECK(jumps({}).second < count); // no fault is injected into a dead process
}

TEST_CASE("inject: systemClockJump sets wallTime() of the process ahead and back, and not its clock") {
    World world(1, Faults{.systemClockJump = 0.2});
    double most = 0, least = 0, clock = 0, offset = 0;
    Process& process = world.start({.name = "p", .main = [&]() -> Future<Void> {
                                        for (;;) {
                                            co_await delay(1);
                                            double ahead = wallTime() - Loop::kVirtualDate - now();
                                            most = std::max(most, ahead);
                                            least = std::min(least, ahead);
                                            clock = now();
                                        }
                                    }});
    world.run(delay(600.5));
    CHECK(world.faultCounts()[FaultKind::systemClockJump] > 50);
    CHECK(most > 1);
    CHECK(least < -1);
    CHECK(clock == 600);
    process.post([&] { offset = wallTime() - process.clock().systemAt(world.now()); });
    world.run(delay(1));
    CHECK(offset == 0);
}

TEST_CASE("inject: it calms down") {
    Faults faults;
    faults.processReboot = 1;
    World world(1, faults);
    Process& process = world.start({.name = "p", .main = [] { return Future<Void>(Never()); }});
    world.run(delay(20));
    CHECK(world.faultCounts()[FaultKind::processReboot] > 5);
    world.disableFaults();
    world.run(delay(1));
    int lives = process.lives();
    world.run(delay(100));
    CHECK(process.lives() == lives);
}
