#pragma once
// The runner of unit tests (flow/testing/unit_test.h). The CMake target millrace::test_main adds it, with main():
//
//     add_executable(my_tests)
//     add_actor_sources(my_tests FILES queue_test.actor.cpp)
//     target_link_libraries(my_tests PRIVATE millrace::test_main)
//
//     $ ./my_tests --filter /queue/ --seed 7
//     seed 7
//     ok     /queue/keeps its order (1 s)
//     FAILED /queue/is empty: internal_error (4100): an internal invariant does not hold
//       at queue_test.actor.cpp:12
//       again: ./my_tests --seed 7 --filter '/queue/is empty'
//     1 passed, 1 failed
//
// Tests run one after the other, sorted by name. Each test has its own loop, on virtual time unless --real is given,
// and random numbers that depend only on the seed and the test's name. So a test runs in the same way if it runs alone.
// If a test crashes or hangs, the program prints its name and seed, and ends.

#include "flow/testing/detail/options.h"

namespace flow {

/// Runs the selected tests and prints the results. Returns the exit code.
int runUnitTests(TestOptions const& options);

/// Runs the whole program: parses the command line, prints errors in it, and runs the tests. Returns the exit code.
int testMain(int argc, char const* const* argv);

} // namespace flow
