#pragma once
// getAll: the values of many futures, in their order.
//
//     state std::vector<Row> rows = wait(getAll(reads));
//
// A value is moved, as by a wait, if no other future refers to it or if it cannot be copied; all others are copied. The
// first error fails the result, and the futures are released before the waiter of the result runs. Cancel-safe:
// dropping the result releases them too.

#include "flow/combine/all.h"
#include "flow/coro/coroutine.h"

#include <vector>

namespace flow {

template <class T>
Future<std::vector<T>> getAll(std::vector<Future<T>> futures, Propagate = {},
                              std::source_location caller = std::source_location::current()) {
    co_await waitForAll(futures, Remaining::RunOn, caller);
    std::vector<T> values;
    values.reserve(futures.size());
    for (Future<T>& future : futures)
        values.push_back(std::move(future).takeValue());
    co_return values;
}

} // namespace flow
