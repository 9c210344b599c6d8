#pragma once
// SimulationFailure: why a run of a simulation has failed, and FaultFilter: which faults a run does without.
//
//     SimulationFailure failure = SimulationFailure::of("balance is 37, not 40");     // signature "balance is #, not
//     #"

#include "flow/sim/faults.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace flow {

struct SimulationFailure {
    /// The same for all failures of one kind: the first line of the text, with # for each number.
    std::string signature;
    std::string text;

    static SimulationFailure of(std::string text);
};

/// What is left out of a run's faults, to find those that matter.
struct FaultFilter {
    std::vector<FaultKind> without = {};    // none of these strikes
    std::uint64_t first = 0;                // of those that would strike, counted from 0, none before this one,
    std::uint64_t last = ~std::uint64_t{0}; // and none from this one on

    bool admits(FaultKind kind, std::uint64_t number) const {
        return number >= first && number < last && std::find(without.begin(), without.end(), kind) == without.end();
    }
};

} // namespace flow
