#pragma once
// CODE_PROBE, and the older TEST(condition), under the old header name.

#include "../../flow.h"

#ifndef TEST // of a library of unit tests
#define TEST(condition) CODE_PROBE(condition, #condition)
#endif
