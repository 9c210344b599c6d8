#pragma once
// askAllLoops: calls a function on the thread of each RealLoop of this process, and collects the results.
//
//     for (LoopAnswer const& answer : askAllLoops([] { return dumpOf(Loop::current()); }, 1.0))
//         print(answer.thread, answer.isThere ? answer.text : "it runs a long step");
//
// The caller's thread blocks until all loops have answered, at most for `patience` seconds; its own loop answers first.
// Several threads may ask at the same time: a thread that waits answers the others meanwhile. A loop costs a lock of a
// mutex when it is made and when it ends, and nothing in between.

#include "flow/loop/real_loop.h"

#include <functional>
#include <string>
#include <vector>

namespace flow {

struct LoopAnswer {
    int thread = 0;   // as the system counts them
    std::string name; // of the thread
    bool isThere = false;
    std::string text;
};

/// Several threads call `ask` at once, some perhaps after `patience`. A call that throws counts as no answer.
std::vector<LoopAnswer> askAllLoops(std::function<std::string()> ask, double patience);

namespace detail {
/// Called for each RealLoop when it is made.
void noteLoop(RealLoop& loop);
} // namespace detail

} // namespace flow
