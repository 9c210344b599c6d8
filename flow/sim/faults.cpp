#include "flow/sim/faults.h"

#include "flow/base/detail/seed.h"
#include "flow/base/format.h"

namespace flow {
namespace {

constexpr double kMost[] = {
#define FLOW_FAULT(name, meaning, most) most,
    FLOW_FAULTS(FLOW_FAULT)
#undef FLOW_FAULT
};

} // namespace

Faults Faults::swarm(std::uint64_t seed) {
    std::uint64_t swarm = seedFor(seed, "swarm");
    Faults faults;
    for (std::size_t i = 0; i < kFaultKinds; ++i) {
        DeterministicRandom random(seedFor(swarm, kFaultNames[i]));
        double share = random.random01();
        if (random.coinflip())
            faults.*kFaultProbabilities[i] = kMost[i] * share;
    }
    faults.buggify = DeterministicRandom(swarm).randomInt(0, 4) != 0 ? 0.25 : 0;
    return faults;
}

std::string Faults::toString() const {
    std::string text;
    for (std::size_t i = 0; i < kFaultKinds; ++i)
        if (double value = of(FaultKind(i)); value != 0)
            text += format("%s%s = %.4g", text.empty() ? "" : ", ", kFaultNames[i], value);
    return text;
}

std::string FaultCounts::toString() const {
    std::string text;
    for (std::size_t i = 0; i < kFaultKinds; ++i)
        if (counts_[i] != 0)
            text += std::string(text.empty() ? "" : ", ") + kFaultNames[i] + " = " + std::to_string(counts_[i]);
    return text;
}

std::uint64_t FaultCounts::total() const {
    std::uint64_t sum = 0;
    for (std::uint64_t each : counts_)
        sum += each;
    return sum;
}

FaultDice::FaultDice(std::uint64_t seed) : how_(kFaultKinds, DeterministicRandom(seed)) {
    whether_.reserve(kFaultKinds);
    for (const char* name : kFaultNames)
        whether_.emplace_back(seedFor(seed, name));
}

bool PlainFaults::injects(FaultKind kind, std::uint64_t) {
    if (!dice_.injects(kind, faults.of(kind)))
        return false;
    ++counts[kind];
    return true;
}

} // namespace flow
