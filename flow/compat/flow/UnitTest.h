#pragma once
// TEST_CASE and its registry under the old header name, with all of flow.h. Link with millrace::test_main to run tests.

#include "flow.h"

using flow::g_unittests;
using flow::noUnseed;
using flow::UnitTest;
using flow::UnitTestCollection;
using flow::UnitTestParameters;
