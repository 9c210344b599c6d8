#pragma once
// FLOW_KNOBS under the old header name: the constants of flow that programs read.

#include "../../flow.h"

/// How far delayJittered() may be from what it is asked for, in parts of that.
struct FlowKnobs {
    double DELAY_JITTER_OFFSET = flow::kJitterOffset;
    double DELAY_JITTER_RANGE = flow::kJitterRange;
};

inline constexpr FlowKnobs flowKnobs;
inline constexpr FlowKnobs const* FLOW_KNOBS = &flowKnobs;
