#pragma once
// Random numbers under the old header name.

#include "../../flow.h"

using flow::deterministicRandom;
using flow::IRandom;
using flow::nondeterministicRandom;
using flow::setThreadLocalDeterministicRandomSeed;
using flow::UID;
