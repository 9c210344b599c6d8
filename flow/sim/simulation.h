#pragma once
// Simulation: a test of a whole cluster, registered under a name. The test can be run for any number of seeds.
//
//     Future<Void> queueSurvives(World& world) {
//         world.start({.name = "server", .main = serve});
//         co_await delay(60);                              // a minute in which everything may fail
//         world.disableFaults();
//         co_await everythingIsThere(world);
//     }
//     Simulation registered("queue", queueSurvives);
//
// A program that links millrace::sim_main runs simulations: `simulations --run queue --seeds 0..99`. Each seed chooses
// some faults and their probabilities, and is run twice. Both runs must have the same digest and the same failure. A
// run fails if its future has an error, world.fail() is called, an invariant does not hold, nothing can happen any more
// although the future is not ready, or the world's time passes the limit or stands still. It also fails if actors of
// the simulation itself, or futures or promises of its processes, are left after its end.

#include "flow/base/non_copyable.h"
#include "flow/base/seconds.h"
#include "flow/core/future.h"
#include "flow/sim/detail/fault_filter.h"
#include "flow/sim/digest.h"
#include "flow/sim/failure.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace flow {

class World;

class Simulation : NonCopyable {
public:
    using Function = Future<Void> (*)(World&);

    /// Registers a static object as a simulation, with a unique name. `limitSeconds` limits the world's time.
    Simulation(const char* simulationName, Function simulationFunction, Seconds limitSeconds = 3600) noexcept;

    const char* const name;
    Function const function;
    double const limit;

    /// Returns the simulation with this name; null if there is none.
    static Simulation const* find(std::string const& name);
    static std::vector<Simulation const*> all();

private:
    Simulation* next_;
};

struct SimulationResult {
    std::uint64_t seed = 0;
    std::uint64_t digest = 0;
    std::uint64_t events = 0;
    double seconds = 0; // in the world's time
    FaultCounts faults;
    SomeFaults injected; // the faults that the filter admitted, also those without effect
    std::optional<SimulationFailure> failure;
};

/// Runs the simulation once. An error of the simulation is in the result, and is not thrown.
SimulationResult simulate(Simulation const& simulation, std::uint64_t seed, FaultFilter const& filter = {},
                          Record* record = nullptr);
/// Runs the simulation twice. If the runs differ, the result is a failure that describes the first difference.
SimulationResult simulateTwice(Simulation const& simulation, std::uint64_t seed, FaultFilter const& filter = {});

/// Runs the command line of a program that links millrace::sim_main.
int simulationMain(int argc, char const* const* argv);

} // namespace flow
