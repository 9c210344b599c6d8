#pragma once
// Random numbers under the old header name.

#include "../../flow.h"

using flow::deterministicRandom;
using flow::IRandom;
using flow::nondeterministicRandom;
using flow::setThreadLocalDeterministicRandomSeed;
using flow::UID;

/// Random numbers for debugging: what is taken from it changes none that deterministicRandom() gives.
inline IRandom* debugRandom() {
    static thread_local IRandom random(1);
    return &random;
}
