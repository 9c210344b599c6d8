#pragma once
// WorkPool: threads that share work by stealing it from each other, on oneTBB's task_arena. An executor for what
// computes; flow/parallel/parallel.h has the tasks that run on it, and flow/threads/ the pool for calls that block.
//
//     WorkPool pool(4);
//     Task<long> sum(Context, WorkPool& pool) {
//         co_return co_await runOn(co_await context(), pool, [](ParallelContext here) { return fib(here, 30); });
//     }
//
// What a thread of the pool submits goes to that thread's own queue, newest first; threads without work take the oldest
// of others. What other threads submit is in no order. One in 64 of what a thread submits stands behind all of that, so
// that items which submit others without end keep nothing waiting. An item must not block, and must not throw.
//
// A pool that is made on a simulated loop has no threads: each item is a task of that loop, in order of submission, so
// that a run can be repeated. It is used by that loop only.
//
// The destructor waits until all that was submitted has run, and all that this submitted. Threads: submit() may be
// called from any thread, the rest from the one that made the pool.

#include "flow/loop/posted.h"

#include <memory>

namespace flow {

class Loop;

/// What a pool runs, once for each time that it is submitted. It belongs to the pool until then.
struct WorkItem {
    void (*run)(WorkItem*) = nullptr;
    WorkItem* next = nullptr; // on a simulated loop
};

class WorkPool {
public:
    /// 0: as many threads as the machine has processors.
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
