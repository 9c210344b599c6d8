#pragma once
// SimulationFailure: the reason why a run of a simulation has failed.
//
//     SimulationFailure failure = SimulationFailure::of("balance is 37, not 40");
//     failure.signature                                   // "balance is #, not #"

#include <string>

namespace flow {

struct SimulationFailure {
    /// The first line of the text, with # for each decimal or hexadecimal number: equal for all failures of a kind.
    std::string signature;
    /// The description. If only some of the processes run, simulate() adds a line with the stopped processes.
    std::string text;

    static SimulationFailure of(std::string text);
};

} // namespace flow
