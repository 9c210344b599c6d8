#pragma once
// DeterministicRandom under the old header name.

#include "IRandom.h"

using flow::DeterministicRandom;
