#pragma once
// What strikes the processes of a World by the second: see "per second of a process" in flow/sim/faults.h.

#include "flow/core/future.h"

namespace flow {

class World;
struct Faults;

/// Whether any of those is to be expected.
bool strikeBySecond(Faults const& faults);
/// Runs on the world's loop for as long as its future is held.
Future<Void> inflictFaults(World& world);

} // namespace flow
