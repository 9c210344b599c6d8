#include "flow/sim/simulation.h"

#include "flow/base/assert.h"
#include "flow/base/format.h"
#include "flow/sim/world.h"

#include <algorithm>
#include <cstring>

namespace flow {
namespace {

constinit Simulation* simulations = nullptr;

/// Runs the simulation, and returns its failure, if any.
std::optional<SimulationFailure> run(World& world, Simulation const& simulation) {
    try {
        Future<Void> running = simulation.function(world);
        try {
            world.run(running);
        } catch (Error const& error) { // here `running` still exists, so waitGraph() shows its actors
            if (!world.failure() && error.code() == error_code_loop_drained && !running.isReady())
                world.fail("nothing can happen any more\n" + world.waitGraph());
            throw;
        }
    } catch (...) {
        Error error = currentError();
        if (!world.failure())
            return SimulationFailure::of(format("it ended with %s (%d): %s", error.name(), error.code(), error.what()));
    }
    return world.failure();
}

/// Returns the line "down: a, b"; an empty text if all processes run, or if the simulation has stopped them all.
std::string stoppedProcesses(World const& world) {
    std::string text;
    bool isOneRunning = false;
    for (auto const& process : world.processes()) {
        isOneRunning |= process->isRunning();
        if (!process->isRunning())
            text += (text.empty() ? "\ndown: " : ", ") + process->name();
    }
    return isOneRunning ? text : std::string();
}

std::optional<SimulationFailure> outcome(World& world, Simulation const& simulation) {
    if (std::optional<SimulationFailure> failure = run(world, simulation)) {
        failure->text += stoppedProcesses(world);
        return failure;
    }
    world.stopAll();
    if (world.leakedCells() != 0)
        return SimulationFailure::of(
            format("%zu futures or promises of stopped processes are left", world.leakedCells()));
    if (std::string left = world.ownActors(); !left.empty())
        return SimulationFailure::of("the simulation has ended, and actors of its own have not\n" + left);
    return {};
}

} // namespace

Simulation::Simulation(const char* simulationName, Function simulationFunction, Seconds limitSeconds) noexcept
    : name(simulationName), function(simulationFunction), limit(limitSeconds), next_(simulations) {
    FLOW_ASSERT(!find(name), format("two simulations have the name '%s'", name).c_str());
    simulations = this;
}

Simulation const* Simulation::find(std::string const& name) {
    for (Simulation const* each = simulations; each; each = each->next_)
        if (each->name == name)
            return each;
    return nullptr;
}

std::vector<Simulation const*> Simulation::all() {
    std::vector<Simulation const*> list;
    for (Simulation const* each = simulations; each; each = each->next_)
        list.push_back(each);
    std::sort(list.begin(), list.end(), [](auto* a, auto* b) { return std::strcmp(a->name, b->name) < 0; });
    return list;
}

SimulationResult simulate(Simulation const& simulation, std::uint64_t seed, FaultFilter const& filter, Record* record) {
    World world(seed, Faults::swarm(seed), record);
    world.setFilter(filter);
    world.setLimit(simulation.limit);
    SimulationResult result;
    result.seed = seed;
    result.failure = outcome(world, simulation);
    result.digest = world.digest();
    result.events = world.events();
    result.seconds = world.now();
    result.faults = world.faultCounts();
    result.injected = world.injectedFaults();
    if (record)
        record->finish();
    return result;
}

SimulationResult simulateTwice(Simulation const& simulation, std::uint64_t seed, FaultFilter const& filter) {
    thread_local Record first; // reuses the memory of the last seed: new pages cost more than the writes
    first.reset();
    SimulationResult result = simulate(simulation, seed, filter, &first);
    Record second(first);
    SimulationResult again = simulate(simulation, seed, filter, &second);
    auto end = [](SimulationResult const& run) { return run.failure ? run.failure->text : "no failure"; };
    if (again.digest != result.digest)
        result.failure = SimulationFailure::of("two runs of the seed differ\n" +
                                               second.difference().value_or("beyond the events that are kept"));
    else if (end(again) != end(result))
        result.failure = SimulationFailure::of("two runs of the seed differ\nthe first ended with: " + end(result) +
                                               "\nthe second ended with: " + end(again));
    return result;
}

} // namespace flow
