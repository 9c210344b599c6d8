#pragma once
// runBlocking: calls a function that may block, on another thread, so that the loop does not block.
//
//     std::string text = co_await runBlocking([path] { return readWholeFile(path); });
//     Future<int> answer = runBlocking([&database, key] { return database.get(key); });
//
// The current loop has a pool of at most ThreadPool::kMostThreads threads. The function runs on one of these threads;
// further calls wait. It must not touch futures, the loop or anything else of the loop's thread. The value that it
// returns, or its exception, becomes the result of the future.
//
// Cancel safety: a call never runs if its future is dropped before the call has begun. A call that has begun runs to
// its end, and its result is dropped. The objects to which the function refers must live until that end, so capture by
// value or by a shared pointer.
//
// On a simulated loop the function runs on the loop, in a step of its own. So a seed gives the same run each time.
//
// The errors, the end of the loop and all else are as in flow/threads/thread_pool.h.

#include "flow/threads/thread_pool.h"

namespace flow {

/// Calls function() on a thread of the loop's pool. Throws std::bad_alloc.
template <class F>
auto runBlocking(F function) {
    return ThreadPool::ofLoop().run(std::move(function));
}

} // namespace flow
