#include "flow/sim/detail/inject.h"

#include "flow/coro/coroutine.h"
#include "flow/sim/world.h"

#include <algorithm>
#include <iterator>

namespace flow {
namespace {

constexpr FaultKind kPerSecond[] = {
    FaultKind::processKill,     FaultKind::processReboot, FaultKind::powerLoss,         FaultKind::blackout,
    FaultKind::processPause,    FaultKind::processSlow,   FaultKind::addressSwap,       FaultKind::clockJump,
    FaultKind::systemClockJump, FaultKind::clockDrift,    FaultKind::allocationFailure, FaultKind::partitionOneWay,
    FaultKind::partitionTwoWay,
};

} // namespace

double faultDuration(DeterministicRandom& random, double median) {
    double half = random.random01() * median;
    while (random.coinflip() && half < 16 * median)
        half += median;
    return half;
}

/// Returns true if the fault was injected. No expression draws two numbers: their order would depend on the compiler.
bool World::inject(FaultKind kind, Process& process) {
    DeterministicRandom& random = dice_.how(kind);
    switch (kind) {
    case FaultKind::processKill:
        reboot(process, faultDuration(random, 10));
        return true;
    case FaultKind::processReboot:
        reboot(process, 0);
        return true;
    case FaultKind::powerLoss: {
        double seconds = faultDuration(random, 2);
        constexpr unsigned kRisks[] = {0, Attachment::kUnsyncedWrite, Attachment::kUnsyncedWrites,
                                       Attachment::kUnsyncedWrites, Attachment::kUnsyncedName};
        unsigned risk = kRisks[random.randomInt(0, std::size(kRisks))];
        if ((risk & process.possibleRisks()) == 0) {
            reboot(process, seconds, true);
            return true;
        }
        process.lossAtRisk_ = risk; // counted when the power is lost
        process.darkSeconds_ = seconds;
        return false;
    }
    case FaultKind::blackout:
        for (auto& each : processes_)
            if (each.get() == &process || random.coinflip()) {
                double seconds = faultDuration(random, 5);
                if (each->isRunning() && !each->options_.protectedFromFaults)
                    reboot(*each, seconds, true);
            }
        return true;
    case FaultKind::processPause:
        pause(process, faultDuration(random, 2));
        return true;
    case FaultKind::processSlow: {
        double seconds = faultDuration(random, 5);
        slowDown(process, seconds, 0.001 * faultDuration(random, 10));
        return true;
    }
    case FaultKind::addressSwap: {
        Process& other = *random.randomChoice(processes_);
        if (&other == &process || !other.isRunning() || other.options_.protectedFromFaults)
            return false;
        swapAddresses(process, other);
        return true;
    }
    case FaultKind::clockJump:
        jumpClock(process, faultDuration(random, 1));
        return true;
    case FaultKind::systemClockJump: {
        double seconds = faultDuration(random, 60);
        process.clock_.jumpSystem(random.coinflip() ? seconds : -seconds);
        return true;
    }
    case FaultKind::clockDrift: { // NTP slews by at most 500 parts in a million; worse clocks exist
        double most = random.coinflip() ? 0.0005 : 0.05;
        setClockRate(process, 1 + most * (2 * random.random01() - 1));
        return true;
    }
    case FaultKind::allocationFailure: // counted when the allocation fails
        failAllocation(process, random.randomInt(0, 200));
        return false;
    default: {
        auto& inject = injections_[static_cast<std::size_t>(kind)];
        if (inject)
            inject(process);
        return inject != nullptr;
    }
    }
}

bool injectsEachSecond(Faults const& faults) {
    return std::any_of(std::begin(kPerSecond), std::end(kPerSecond),
                       [&](FaultKind each) { return faults.of(each) > 0; });
}

Future<Void> injectFaults(World& world) {
    constexpr double kMeanPause = 0.5; // seconds; a change of the probabilities takes effect within twice this time
    DeterministicRandom pauses(world.random().randomUInt64());
    for (;;) {
        double pause = 2 * kMeanPause * pauses.random01();
        co_await delay(pause);
        for (std::size_t i = 0; i < world.processes().size(); ++i) {
            Process& process = *world.processes()[i];
            for (FaultKind kind : kPerSecond) // injects() first: it draws a number for each kind
                if (world.dice_.injects(kind, pause * world.faults().of(kind)) &&
                    !process.options().protectedFromFaults && process.isRunning() && world.admits(kind) &&
                    world.inject(kind, process))
                    world.injected(kind, process.id());
        }
    }
}

} // namespace flow
