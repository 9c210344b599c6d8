#pragma once
// Everything of flow, and simulation: virtual time, simulated machines and disks, faults, checkers.
//
//     #include "flow/sim.h"
//
//     SimLoop loop;                            // virtual time: the delay takes no real time
//     loop.run(delay(3600));
//
// Production code includes flow/flow.h, which builds without flow/sim.

// IWYU pragma: begin_exports
#include "flow/flow.h"
#include "flow/sim/disk.h"
#include "flow/sim/sim_loop.h"
// IWYU pragma: end_exports
