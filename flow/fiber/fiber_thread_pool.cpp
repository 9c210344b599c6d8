#include "flow/fiber/fiber_thread_pool.h"

#include <chrono>
#include <thread>
#include <utility>

namespace flow {

FiberThreadPool::FiberThreadPool(Loop& home, Options const& options)
    : home_(home), options_(options),
      threads_(home.isSimulated() ? Reference<ThreadPool>() : makeReference<ThreadPool>(home, options.threads)) {
    FLOW_ASSERT(options.threads > 0, "a FiberThreadPool of no threads");
}

FiberThreadPool::~FiberThreadPool() {
    queue_->hasEnded = true; // a waiter of an action may call run() again when the action fails below
    if (threads_)
        threads_->stop();
    queue_->jobs.clear();
    workers_.clear(); // the futures of the fibers: their stacks unwind
}

void FiberThreadPool::submit(std::unique_ptr<AnyJob> job) {
    FLOW_ASSERT(&Loop::current() == &home_, "a FiberThreadPool is used on another loop than its own");
    if (queue_->hasEnded)
        return; // the job fails with broken_promise
    queue_->jobs.push_back(std::move(job));
    std::erase_if(workers_, [](Future<Void> const& worker) { return worker.isReady(); });
    if (workers_.size() < options_.threads)
        workers_.push_back(fiber::spawn([queue = queue_] { work(*queue); }, {options_.stackBytes, options_.name}));
}

void FiberThreadPool::work(Queue& queue) {
    do {
        fiber::wait(delay(0));
        if (queue.jobs.empty())
            return; // another worker took the job
        auto job = std::move(queue.jobs.front());
        queue.jobs.pop_front();
        job->perform();
    } while (!queue.jobs.empty());
}

void FiberThreadPool::pause(double seconds) {
    if (fiber::isFiber())
        return fiber::sleep(seconds);
    // nondeterminism: a thread of a pool, which a simulated loop does not have
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

} // namespace flow
