#pragma once
// CODE_PROBE, and the older TEST(condition), under the old header name.

#include "../../flow.h"
#include "../assertions.h"

#ifndef TEST // a library of unit tests may define it
#define TEST(condition) CODE_PROBE(condition, #condition)
#endif
