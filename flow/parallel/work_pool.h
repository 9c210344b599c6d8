#pragma once
// WorkPool: threads that steal work from each other, built on oneTBB's task_arena. It runs the tasks of
// flow/parallel/parallel.h. Calls that block belong on a ThreadPool (flow/threads/thread_pool.h).
//
//     WorkPool pool(4);
//     Task<long> sum(Context, WorkPool& pool) {
//         co_return co_await runOn(co_await context(), pool, [](ParallelContext here) { return fib(here, 30); });
//     }
//
// A thread of the pool submits to its own queue, and takes the newest item of this queue. A thread without work takes
// the oldest item of another thread. Items from threads outside of the pool run in any order. One in 64 items that a
// thread of the pool submits goes behind all waiting items, so that no item starves. An item must not block or throw.
//
// On a simulated loop, a pool has no threads: each item is a step of the loop, in the order of submit(), so that a run
// can be repeated. Only this loop may use the pool.
//
// The destructor waits until all items have run, also items that other items submit meanwhile. Any thread may call
// submit(); only the thread that made the pool may call the other functions.

#include "flow/loop/detail/posted.h"

#include <memory>

namespace flow {

class Loop;

/// An item of work, which a pool runs once for each submit(). The pool owns the item from submit() until it runs.
struct WorkItem {
    void (*run)(WorkItem*) = nullptr;
    WorkItem* next = nullptr; // the next item in the queue of a simulated loop
};

class WorkPool {
public:
    /// Makes a pool of `threads` threads; 0: one for each processor that the process may use.
    explicit WorkPool(int threads = 0);
    WorkPool(WorkPool const&) = delete;
    WorkPool& operator=(WorkPool const&) = delete;
    ~WorkPool();

    int threads() const { return threads_; }
    void submit(WorkItem& item) noexcept;

private:
    struct Arena;
    class Turn;

    int threads_;
    std::unique_ptr<Arena> arena_; // null on a simulated loop
    std::unique_ptr<Turn> turn_;   // null if there are threads
};

} // namespace flow
