#pragma once
// The options on the command line of a test program.
//
//     TestOptions options = parseTestOptions(argc, argv);     // throws TestUsage
//
// parseTestOptions has no effects; the runner (flow/testing/detail/runner.h) acts on its result.

#include "flow/testing/unit_test.h"

#include <cstdint>
#include <stdexcept>
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
    std::vector<std::string> rerun; // options for an equal run of a test, besides --seed and --filter
};

/// The error for a wrong command line. what() says what is wrong, in one or two lines.
struct TestUsage : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Parses the command line. Options are `--name value` or `--name=value`. Throws TestUsage.
TestOptions parseTestOptions(int argc, char const* const* argv);

/// Returns the text for --help.
std::string testUsage();

/// Returns true if `filter` selects `name`. A filter with `*` or `?` must match all of `name`, another filter a part.
bool filterMatches(std::string const& filter, std::string const& name);
/// Returns true if there are no filters, or if one of them selects `name`.
bool anyFilterMatches(std::vector<std::string> const& filters, std::string const& name);

} // namespace flow
