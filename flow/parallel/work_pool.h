#pragma once
// WorkPool: threads that share work by stealing it from each other, on oneTBB's task_arena. It runs computations, in
// the tasks of flow/parallel/parallel.h. The pool for calls that block is in flow/threads/.
//
//     WorkPool pool(4);
//     Task<long> sum(Context, WorkPool& pool) {
//         co_return co_await runOn(co_await context(), pool, [](ParallelContext here) { return fib(here, 30); });
//     }
//
// A thread of the pool submits to its own queue, newest first; threads without work take the oldest items of other
// threads. Items from threads outside the pool run in no order. One item in 64 that a thread of the pool submits goes
// behind all these items, so that items which submit others without end do not starve the rest. An item must not block,
// and must not throw.
//
// A pool that is made on a simulated loop has no threads: each item is a step of that loop, in order of submission, so
// that a run can be repeated. Only that loop may use it.
//
// The destructor waits until all submitted items have run, and all items that these submitted. Threads: submit() may be
// called from any thread, the other functions only from the thread that made the pool.

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
