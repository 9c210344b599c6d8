#pragma once
// The requests of millrace profile to the program that it runs, by environment variables:
//
//     MILLRACE_PROFILE=FOLDER            each RealLoop writes a StepProfile to FOLDER/PID-N.json when it ends
//     MILLRACE_PROFILE_ALLOCATIONS=1     each StepProfile also counts allocations
//     MILLRACE_PROFILE_SAMPLES=1         a SignalSampler writes samples to FOLDER/PID.samples

#include "flow/loop/real_loop.h"

namespace flow {

/// Starts the sampler if the environment requests it. Called by the first RealLoop, or by a program without a loop.
void sampleIfAsked();

namespace detail {

/// Profiles `which` if the environment requests it. Called for each new RealLoop.
void profileIfAsked(RealLoop& which);

} // namespace detail
} // namespace flow
