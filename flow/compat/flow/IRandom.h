#pragma once
// Random numbers under the old header name.

#include "../../flow.h"

using flow::deterministicRandom;
using flow::IRandom;
using flow::nondeterministicRandom;
using flow::setThreadLocalDeterministicRandomSeed;
using flow::UID;

/// Random numbers for debugging: they do not change the numbers of deterministicRandom().
inline IRandom* debugRandom() {
    static thread_local IRandom random(1);
    return &random;
}
