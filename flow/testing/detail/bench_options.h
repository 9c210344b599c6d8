#pragma once
// The options on the command line of a benchmark program.
//
//     BenchOptions options = parseBenchOptions(argc, argv);   // throws TestUsage
//
// parseBenchOptions has no effects; the runner (flow/testing/detail/bench_runner.h) acts on its result.

#include "flow/testing/detail/option_table.h"

#include <cstdint>
#include <string>
#include <vector>

namespace flow {

struct BenchOptions {
    bool help = false;
    bool list = false;
    bool realLoop = false;
    bool verbose = false;
    std::vector<std::string> filters;
    std::vector<std::string> names;
    double minTime = 0.1; // seconds
    int repetitions = 5;
    std::int64_t iterations = 0; // 0: as many as minTime needs
    std::string jsonFile;        // none if empty
};

BenchOptions parseBenchOptions(int argc, char const* const* argv);

/// Returns the text for --help.
std::string benchUsage();

} // namespace flow
