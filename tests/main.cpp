// The entry point of flow_tests: doctest finds the cases of every file linked in.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
