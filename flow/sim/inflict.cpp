#include "flow/sim/inflict.h"

#include "flow/coro/coroutine.h"
#include "flow/sim/world.h"

namespace flow {
namespace {

constexpr FaultKind kPerSecond[] = {
    FaultKind::processKill, FaultKind::processReboot,     FaultKind::powerLoss,       FaultKind::processPause,
    FaultKind::processSlow, FaultKind::addressSwap,       FaultKind::clockJump,       FaultKind::systemClockJump,
    FaultKind::clockDrift,  FaultKind::allocationFailure, FaultKind::partitionOneWay, FaultKind::partitionTwoWay,
};

double sumOf(Faults const& faults) {
    double sum = 0;
    for (FaultKind each : kPerSecond)
        sum += faults.of(each);
    return sum;
}

/// One of them, as likely as it is frequent.
FaultKind choose(Faults const& faults, DeterministicRandom& random) {
    double left = random.random01() * sumOf(faults);
    for (FaultKind each : kPerSecond)
        if ((left -= faults.of(each)) < 0)
            return each;
    return kPerSecond[0]; // by a rounding error
}

} // namespace

double faultDuration(DeterministicRandom& random, double median) {
    double half = random.random01() * median;
    while (random.coinflip() && half < 16 * median)
        half += median;
    return half;
}

/// Returns whether that could be done. Never two random numbers in one expression: compilers differ in which they draw
/// first.
bool World::inflict(FaultKind kind, Process& process) {
    switch (kind) {
    case FaultKind::processKill:
        reboot(process, faultDuration(random_, 10));
        return true;
    case FaultKind::processReboot:
        reboot(process, 0);
        return true;
    case FaultKind::powerLoss:
        reboot(process, faultDuration(random_, 5), true);
        return true;
    case FaultKind::processPause:
        pause(process, faultDuration(random_, 2));
        return true;
    case FaultKind::processSlow: {
        double seconds = faultDuration(random_, 5);
        slowDown(process, seconds, 0.001 * faultDuration(random_, 10));
        return true;
    }
    case FaultKind::addressSwap: {
        Process& other = *random_.randomChoice(processes_);
        if (&other == &process || other.options_.protectedFromFaults)
            return false;
        swapAddresses(process, other);
        return true;
    }
    case FaultKind::clockJump:
        jumpClock(process, faultDuration(random_, 1));
        return true;
    case FaultKind::systemClockJump: {
        double seconds = faultDuration(random_, 60);
        process.clock_.jumpSystem(random_.coinflip() ? seconds : -seconds);
        return true;
    }
    case FaultKind::clockDrift: { // NTP slews by at most 500 parts in a million; worse clocks exist
        double most = random_.coinflip() ? 0.0005 : 0.05;
        setClockRate(process, 1 + most * (2 * random_.random01() - 1));
        return true;
    }
    case FaultKind::allocationFailure: // counted when it happens
        failAllocation(process, random_.randomInt(0, 200));
        return false;
    default: {
        auto& inflict = inflictions_[static_cast<std::size_t>(kind)];
        if (inflict)
            inflict(process);
        return inflict != nullptr;
    }
    }
}

bool strikeBySecond(Faults const& faults) {
    return sumOf(faults) > 0;
}

Future<Void> inflictFaults(World& world) {
    constexpr double kMeanPause = 0.5; // looks at the faults anew so often, at least
    for (;;) {
        double pause = 2 * kMeanPause * world.random().random01();
        co_await delay(pause);
        for (std::size_t i = 0; i < world.processes().size(); ++i) {
            Process& process = *world.processes()[i];
            double sum = sumOf(world.faults());
            if (process.options().protectedFromFaults || !process.isRunning() ||
                world.random().random01() >= pause * sum)
                continue;
            FaultKind kind = choose(world.faults(), world.random());
            if (world.admits(kind) && world.inflict(kind, process))
                world.happened(kind, process.id());
        }
    }
}

} // namespace flow
