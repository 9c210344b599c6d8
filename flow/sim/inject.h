#pragma once
// Injects faults into the processes of a World, second by second: see "per second of a process" in flow/sim/faults.h.

#include "flow/core/future.h"

namespace flow {

class DeterministicRandom;
class World;
struct Faults;

/// A random duration. Longer ones are rarer: half of them are below `median`, a quarter above twice that.
double faultDuration(DeterministicRandom& random, double median);

/// True if any of the faults that are "per second of a process" can happen.
bool injectsEachSecond(Faults const& faults);
/// Runs on the world's loop for as long as its future is held.
Future<Void> injectFaults(World& world);

} // namespace flow
