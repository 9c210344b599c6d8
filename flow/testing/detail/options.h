#pragma once
// The command-line options of a test program.
//
//     TestOptions options = parseTestOptions(argc, argv);     // throws TestUsage

#include "flow/testing/detail/option_table.h"
#include "flow/testing/unit_test.h"

#include <cstdint>
#include <string>
#include <vector>

namespace flow {

struct TestOptions {
    bool help = false;
    bool list = false;
    bool realLoop = false;
    bool twice = false;
    std::vector<std::string> filters;
    Optional<std::uint64_t> seed; // chosen at random if not given
    Optional<double> timeout;     // seconds of the test's loop
    int limit = 300;              // seconds of the machine's clock
    std::string traceFile;        // none if empty
    UnitTestParameters parameters;
    std::string program;
    std::vector<std::string> rerun; // options that repeat a test, besides --seed and --filter
};

TestOptions parseTestOptions(int argc, char const* const* argv);

std::string testUsage();

} // namespace flow
