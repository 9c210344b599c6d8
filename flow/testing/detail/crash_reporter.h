#pragma once
// CrashReporter: if a signal ends the program, prints the name of the running test. If the test runs too long, also
// prints the name, and ends the program.
//
//     CrashReporter words("/queue/is empty", "  again: ./my_tests ...\n", 300);
//
// Only one may exist at a time. Handlers of the program (or of a sanitizer) stay installed.

#include <string>

namespace flow::testing {

class CrashReporter {
public:
    /// `limit` is in seconds of the machine's clock.
    CrashReporter(std::string const& test, std::string const& more, int limit);
    ~CrashReporter();
    CrashReporter(CrashReporter const&) = delete;
    CrashReporter& operator=(CrashReporter const&) = delete;
};

} // namespace flow::testing
