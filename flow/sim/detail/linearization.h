#pragma once
// linearize: looks for an order of the operations on one key that explains their results. checkLinearizable() uses it.
//
//     Linearization found = linearize(operations, History::kNever, 1'000'000);
//     if (found.answer == Linearization::Answer::exists)
//         for (std::size_t index : found.order) ...
//
// The search follows J. M. Wing and C. Gong, "Testing and verifying concurrent objects", J. Parallel Distrib. Comput.
// 17 (1993), and G. Lowe, "Testing for linearizability", Concurrency Computat. Pract. Exper. 29 (2017). It tries every
// order that the calls and returns allow and that explains the results. The remaining calls and returns are a doubly
// linked list, so the search takes an operation, or puts it back, in constant time. Each pair of remaining operations
// and value of the key is searched only once. linearization.cpp explains and justifies our additions for registers.

#include "flow/sim/history.h"

#include <cstdint>
#include <vector>

namespace flow {

struct Linearization {
    enum class Answer { exists, none, undecided };
    Answer answer;
    /// The longest order found, as indices of operations. If `answer` is `exists`, it has all operations that returned.
    std::vector<std::size_t> order;
    /// The work of the search: the operations looked at, plus the cost of storing and comparing sets of operations.
    std::uint64_t steps;
};

/// Looks for an order of `operations`. They must have the same key, be sorted by invocation, and not have failed. Only
/// events with a number below `end` count: if an operation returns later, its outcome is taken as unknown. Gives up
/// after about `budget` steps: the answer is then `undecided`.
Linearization linearize(std::vector<History::Operation const*> const& operations, std::size_t end,
                        std::uint64_t budget);

} // namespace flow
