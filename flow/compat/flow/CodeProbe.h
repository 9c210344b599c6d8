#pragma once
// CODE_PROBE, and the older TEST(condition), under the old header name.

#include "../../flow.h"
#include "../../test.h"

#ifndef TEST // not if a library of unit tests has defined it
#define TEST(condition) CODE_PROBE(condition, #condition)
#endif
