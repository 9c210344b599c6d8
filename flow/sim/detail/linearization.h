#pragma once
// linearize: looks for an order of the operations on one key that explains their results. checkLinearizable() does so
// for all keys; this is its search.
//
//     Linearization found = linearize(operations, History::kNever, 1'000'000);
//     if (found.answer == Linearization::Answer::exists)
//         for (std::size_t index : found.order) ...
//
// The search follows J. M. Wing and C. Gong, "Testing and verifying concurrent objects", J. Parallel Distrib. Comput.
// 17 (1993), and G. Lowe, "Testing for linearizability", Concurrency Computat. Pract. Exper. 29 (2017). It takes
// operations in every order that their calls and returns allow and that explains their results. The remaining calls and
// returns are a doubly linked list, so that an operation is taken and put back in constant time. Each set of remaining
// operations is recorded with its value, and not searched again. Our additions for registers are explained at their
// places, with the reason why they lose no order.

#include "flow/sim/history.h"

#include <cstdint>
#include <vector>

namespace flow {

struct Linearization {
    enum class Answer { exists, none, undecided };
    Answer answer;
    /// The longest order found, as indices into the operations. If the answer is `exists`, it has all that returned.
    std::vector<std::size_t> order;
    /// The work of the search: operations looked at, and sets of them stored and compared.
    std::uint64_t steps;
};

/// Looks for an order of `operations`, which are of one key, in the order of their invocations; none of them has
/// failed. Only events before `end` count: the outcome of an operation that returns later is taken as unknown. Gives up
/// after about `budget` steps: the answer is then `undecided`.
Linearization linearize(std::vector<History::Operation const*> const& operations, std::size_t end,
                        std::uint64_t budget);

} // namespace flow
