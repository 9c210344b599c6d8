#pragma once
// The requests of tools/profile to the program that it runs, by environment variables:
//
//     MILLRACE_PROFILE=FOLDER            each RealLoop writes a StepProfile to FOLDER/PID-N.json when it ends
//     MILLRACE_PROFILE_ALLOCATIONS=1     each StepProfile also counts allocations
//     MILLRACE_PROFILE_SAMPLES=1         a SignalSampler writes samples to FOLDER/PID.samples

#include "flow/loop/real_loop.h"

namespace flow {

/// Starts the sampler, if the environment requests it. Called when the first RealLoop is made. A program without a
/// RealLoop must call sampleIfAsked() itself.
void sampleIfAsked();

namespace detail {

/// Profiles `loop`, if the environment requests it. Called for each RealLoop that is made.
void profileIfAsked(RealLoop& loop);

} // namespace detail
} // namespace flow
