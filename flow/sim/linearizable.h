#pragma once
// checkLinearizable: checks that each operation of a key-value store took effect at one moment while it ran.
//
//     LinearizabilityVerdict verdict = checkLinearizable(history);
//     if (!verdict.ok())
//         std::fputs(verdict.explanation.c_str(), stderr);
//
//     key "a" is not linearizable: no order explains the first 4 of its 9 operations
//       client  operation  result  from  to  place
//            1  put("1")   ok         0   1  1
//            2  put("2")   ok         2   5  2
//            3  get()      "2"        3   4  3
//            3  get()      "1"        6   7  -
//     the longest order has 3 operations and leaves "2"
//
// Each key is checked alone. In the worst case the time is exponential in the number of writes that ran at the same
// time; operations of unknown outcome add little. A history gives the same verdict and text on every machine.

#include "flow/sim/history.h"

#include <cstdint>
#include <string>

namespace flow {

struct LinearizabilityVerdict {
    enum class Outcome { linearizable, notLinearizable, undecided };
    Outcome outcome;
    /// The first key in the order of bytes that is not linearizable. If there is none, the first key that is undecided.
    std::string key;
    /// A text for people; empty if all is well. If a key is not linearizable, the text has a table of the key's
    /// operations, up to the first result that no order explains. The columns `from` and `to` are the numbers of the
    /// invocation and the return. The column `place` is the position in the longest order that explains the results.
    std::string explanation;
    /// The work of the search for all keys, without the search for the explanation.
    std::uint64_t steps;

    bool ok() const { return outcome == Outcome::linearizable; }
};

/// Checks a history, with at most about `budget` steps for each key. Ten million steps take a second or two. A step
/// takes at most a few hundred bytes. The search is short if most writes have different values, because each read then
/// shows which write it has seen.
LinearizabilityVerdict checkLinearizable(History const& history, std::uint64_t budget = 10'000'000);

} // namespace flow
