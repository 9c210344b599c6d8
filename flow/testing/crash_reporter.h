#pragma once
// LastWords: while one lives, a signal that ends the program first prints which test was running, and a test that runs
// too long is ended.
//
//     LastWords words("/queue/is empty", "  again: ./my_tests ...\n", 300);
//
// One at a time. It leaves alone signals for which the program (or a sanitizer) has a handler of its own.

#include <string>

namespace flow::testing {

class LastWords {
public:
    /// `limit` is in seconds of the machine's clock.
    LastWords(std::string const& test, std::string const& more, int limit);
    ~LastWords();
    LastWords(LastWords const&) = delete;
    LastWords& operator=(LastWords const&) = delete;
};

} // namespace flow::testing
