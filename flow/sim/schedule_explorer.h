#pragma once
// exploreSchedules: runs a small test once for each order in which tasks that are ready together could run.
//
//     Schedules orders = exploreSchedules([]() -> Future<Void> {
//         Mutex mutex;
//         std::vector<Future<Void>> users;
//         for (int i = 0; i < 4; ++i)
//             users.push_back(use(&mutex));          // each waits for its turn: delay(0)
//         co_await waitForAll(users);
//     });
//     CHECK(orders.failure == "");                    // else what went wrong, and in which order
//     CHECK(orders.all);                              // else there are others
//
// A loop runs tasks that are ready at one priority first in, first out. Here any of them may be next, as if they had
// become ready in another order, as happens when they wait for other processes. If one order of a hundred loses a
// wake-up, one of these runs finds it: nothing can happen any more although the test has not ended.
//
// The number of orders grows as the factorial of the number of tasks: seven that have one turn each make 5,040.

#include "flow/core/future.h"

#include <cstdint>
#include <functional>
#include <string>

namespace flow {

struct Schedules {
    std::uint64_t count = 0; // orders that have been run
    bool all = false;        // true if there are no others
    std::string failure;     // of the last order; empty if it did not fail
};

/// Runs test() on a loop of virtual time; the futures of the loop must be destroyed when it has ended. Stops at the
/// first order that fails: by an error, an exception, or because nothing is ready before the future is. If more than
/// `together` tasks are ready at the same time, only the first `together` are tried at that point, and `all` is false.
/// `most` and `together` are at least 1.
Schedules exploreSchedules(std::function<Future<Void>()> const& test, std::uint64_t most = 1'000'000, int together = 7);

} // namespace flow
