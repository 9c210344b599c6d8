#pragma once
// runBlocking: calls a function that may block on another thread, so that the loop does not block.
//
//     std::string text = co_await runBlocking([path] { return readWholeFile(path); });
//     Future<int> answer = runBlocking([&database, key] { return database.get(key); });
//
// The current loop has a pool of at most ThreadPool::kMostThreads threads. The function runs on one of them; further
// calls wait. The function must not use futures, the loop or other objects of the loop's thread. Its value or exception
// is the result of the future. On a simulated loop the function runs on the loop, as a step. So a seed gives the same
// run each time.
//
// Cancel safety: if the future is dropped before the call has begun, the call never runs. A call that has begun runs to
// its end: capture by value or by a shared pointer. The other rules are in flow/threads/thread_pool.h.

#include "flow/threads/thread_pool.h"

namespace flow {

/// Calls function() on a thread of the loop's pool. Throws std::bad_alloc.
template <class F>
auto runBlocking(F function) {
    return ThreadPool::ofLoop().run(std::move(function));
}

} // namespace flow
