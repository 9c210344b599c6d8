#pragma once
// exploreSchedules: runs a small test once for each order in which its ready steps could run.
//
//     Schedules orders = exploreSchedules([]() -> Future<Void> {
//         Mutex mutex;
//         std::vector<Future<Void>> users;
//         for (int i = 0; i < 4; ++i)
//             users.push_back(use(&mutex));          // each waits for its turn: delay(0)
//         co_await all(users);
//     });
//     CHECK(orders.failure == "");                    // otherwise the text says what went wrong, and in which order
//     CHECK(orders.all);                              // otherwise some orders have not been run
//
// A loop runs ready steps of the same priority first in, first out. exploreSchedules() tries all other orders as well,
// because steps that wait for other processes become ready in any order. If a wake-up is lost in one order of a
// hundred, the run of that order finds it: nothing can happen any more, but the test has not ended.
//
// The number of orders grows as the factorial of the number of steps: seven steps of one turn each have 5,040 orders.

#include "flow/core/future.h"

#include <cstdint>
#include <functional>
#include <string>

namespace flow {

struct Schedules {
    std::uint64_t count = 0; // the number of orders that have been run
    bool all = false;        // true if every order has been run
    std::string failure;     // the failure of the last order; empty if it did not fail
};

/// Runs test() in at most `most` orders, each on a new loop of virtual time. The futures of a run must be destroyed by
/// its end. Stops at the first order that fails: by an error, by an exception, or because nothing is ready although the
/// test has not ended. If more than `together` steps are ready at the same time, only the first `together` are tried
/// there, and `all` is false. `most` and `together` are at least 1.
Schedules exploreSchedules(std::function<Future<Void>()> const& test, std::uint64_t most = 1'000'000, int together = 7);

} // namespace flow
