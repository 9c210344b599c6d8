#pragma once
// firstOf: the first of many futures to have a value, and which one that is.
//
//     FirstOf<Row> first = wait(firstOf(replicas));
//     print(first.index, first.value);
//
// Among futures that are ready at the call, the first in order counts. An error that comes first fails the result. The
// value is copied, and all futures are released before the waiter of the result runs: the futures that lose have given
// nothing, and a future that nothing else holds is cancelled. With no futures the result is never ready. Cancel-safe:
// dropping the result releases the futures too.

#include "flow/combine/all.h"
#include "flow/coro/coroutine.h"

#include <cstddef>
#include <vector>

namespace flow {

template <class T>
struct FirstOf {
    std::size_t index;
    T value;
};

namespace combine {
template <class T>
Future<FirstOf<T>> firstOf(std::vector<Future<T>> futures, Future<Void> any, Propagate = {}) {
    co_await std::move(any);
    // This coroutine resumes at once when the first future is ready, so the ready future with the lowest index is the
    // first.
    std::size_t index = 0;
    while (!futures[index].isReady())
        ++index;
    co_return FirstOf<T>{index, futures[index].get()};
}
} // namespace combine

template <class T>
Future<FirstOf<T>> firstOf(std::vector<Future<T>> futures,
                           std::source_location caller = std::source_location::current()) {
    if (futures.empty())
        return Never();
    Future<Void> any = waitForAny(futures, Remaining::Released, caller);
    return combine::firstOf(std::move(futures), std::move(any));
}

} // namespace flow
