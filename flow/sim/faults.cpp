#include "flow/sim/faults.h"

#include "flow/base/format.h"
#include "flow/base/random.h"

namespace flow {
namespace {

struct Class {
    double Faults::* probability;
    double most;
};
constexpr Class kClasses[] = {
#define FLOW_FAULT(name, meaning, most) {&Faults::name, most},
    FLOW_FAULTS(FLOW_FAULT)
#undef FLOW_FAULT
};

} // namespace

Faults Faults::swarm(std::uint64_t seed) {
    DeterministicRandom random(seed ^ 0x737761726dull); // not the numbers that the world draws
    Faults faults;
    for (Class const& each : kClasses) {
        double share = random.random01();
        if (random.coinflip())
            faults.*each.probability = each.most * share;
    }
    faults.buggify = random.randomInt(0, 4) != 0 ? 0.25 : 0;
    return faults;
}

std::string Faults::toString() const {
    std::string text;
    for (std::size_t i = 0; i < kFaultKinds; ++i)
        if (double value = this->*kClasses[i].probability; value != 0)
            text += format("%s%s = %.4g", text.empty() ? "" : ", ", detail::kFaultNames[i], value);
    return text;
}

} // namespace flow
