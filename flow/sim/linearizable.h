#pragma once
// checkLinearizable: checks that a key-value store behaved as if each operation took effect at one moment between its
// invocation and its return.
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
// Keys are independent of each other, so each is checked alone. The search takes time that is exponential in the number
// of writes that ran at the same time, in the worst case; operations of unknown outcome add little. The same history
// gives the same verdict, text included, on every machine.

#include "flow/sim/history.h"

#include <cstdint>
#include <string>

namespace flow {

struct LinearizabilityVerdict {
    enum class Outcome { linearizable, notLinearizable, undecided };
    Outcome outcome;
    /// The first key in the order of bytes that is not linearizable. If there is none, the first key that is undecided.
    std::string key;
    /// A text for people; empty if all is well. For a key that is not linearizable, the text has a table of the
    /// shortest prefix of the key's history that is not linearizable. Each row is an operation. `from` and `to` are the
    /// numbers of its invocation and its return among all events of the history. `place` is its place in the longest
    /// order of operations that explains their results. Long tables leave out early operations.
    std::string explanation;
    /// The work of the search for all keys, without the search for the explanation.
    std::uint64_t steps;

    bool ok() const { return outcome == Outcome::linearizable; }
};

/// Checks the keys one after the other, with at most about `budget` steps for each. Ten million steps take a second or
/// two. A step takes at most a few hundred bytes. The search is long if there are few different values. It is short if
/// most writes have different values: then the result of a read shows which write the read has seen.
LinearizabilityVerdict checkLinearizable(History const& history, std::uint64_t budget = 10'000'000);

} // namespace flow
