#pragma once
// Injects faults into the processes of a World, second by second: see "per second of a process" in flow/sim/faults.h.

#include "flow/core/future.h"

namespace flow {

class DeterministicRandom;
class World;
struct Faults;

/// Returns a random duration: half of all durations are below `median`, a quarter above twice `median`.
double faultDuration(DeterministicRandom& random, double median);

/// Returns true if any of the faults that are "per second of a process" can happen.
bool injectsEachSecond(Faults const& faults);
/// Injects faults on the world's loop for as long as the returned future is held.
Future<Void> injectFaults(World& world);

} // namespace flow
