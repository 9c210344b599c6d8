#include "flow/sim/faults.h"

#include <doctest/doctest.h>

using namespace flow;

TEST_CASE("faults: none at first, and named when there are some") {
    Faults faults;
    CHECK(faults.toString() == "");
    faults.diskError = 0.5;
    faults.processKill = 0.25;
    CHECK(faults.toString() == "processKill = 0.25, diskError = 0.5");
    CHECK(kFaultKinds >= 24);
    CHECK(std::string(faultName(FaultKind::buggify)) == "buggify");
}

TEST_CASE("faults: a swarm leaves about half of them out, others with each seed") {
    CHECK(Faults::swarm(5).toString() == Faults::swarm(5).toString());
    FaultCounts seen;
    constexpr int kSeeds = 1000;
    for (int seed = 0; seed < kSeeds; ++seed) {
        std::string text = Faults::swarm(seed).toString() + ",";
        for (std::size_t kind = 0; kind < kFaultKinds; ++kind)
            seen[FaultKind(kind)] += text.find(std::string(faultName(FaultKind(kind))) + " = ") != std::string::npos;
    }
    for (std::size_t kind = 0; kind < kFaultKinds; ++kind) {
        double expected = FaultKind(kind) == FaultKind::buggify ? 0.75 : 0.5;
        CHECK(double(seen[FaultKind(kind)]) / kSeeds == doctest::Approx(expected).epsilon(0.15));
    }
}
