#pragma once
// How many executions a test with random inputs makes: 20,000, or what MILLRACE_FUZZ says.
//
//     $ MILLRACE_FUZZ=1000000 flow_tests --test-case='*changed at random*'

#include "flow/base/parse_number.h"

#include <cstdlib>

namespace flow::test {

inline int fuzzCount() {
    char const* said = std::getenv("MILLRACE_FUZZ");
    return said ? parseNumber<int>(said).value_or(20'000) : 20'000;
}

} // namespace flow::test
