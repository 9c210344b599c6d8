#pragma once
// WorkPool: threads that steal work from each other, built on oneTBB's task_arena. A WorkPool runs the computations of
// the tasks in flow/parallel/parallel.h. Calls that block belong on the ThreadPool of flow/threads/.
//
//     WorkPool pool(4);
//     Task<long> sum(Context, WorkPool& pool) {
//         co_return co_await runOn(co_await context(), pool, [](ParallelContext here) { return fib(here, 30); });
//     }
//
// A thread of the pool submits to its own queue, and takes the newest item of that queue first. A thread without work
// takes the oldest item of another thread. Items from threads outside the pool run in no order. One in 64 of the
// items that a thread of the pool submits goes behind all waiting items, so items that always submit new items do not
// starve the others. An item must not block, and must not throw.
//
// A pool that is made on a simulated loop has no threads: each item is a step of that loop, in order of submission. So
// a run can be repeated. Only that loop may use the pool.
//
// The destructor waits until all submitted items have run, also items that other items submit meanwhile. Threads: any
// thread may call submit(). Only the thread that made the pool may call the other functions.

#include "flow/loop/detail/posted.h"

#include <memory>

namespace flow {

class Loop;

/// An item of work, which a pool runs once for each submit(). It belongs to the pool from submit() until it runs.
struct WorkItem {
    void (*run)(WorkItem*) = nullptr;
    WorkItem* next = nullptr; // the next item in the queue of a simulated loop
};

class WorkPool {
public:
    /// Makes a pool of `threads` threads; 0 means as many as the machine has processors.
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
    std::unique_ptr<Turn> turn_;   // null on threads
};

} // namespace flow
