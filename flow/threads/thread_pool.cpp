#include "flow/threads/thread_pool.h"

#include "flow/base/fork_count.h"
#include "flow/base/format.h"

#include <csignal>
#include <system_error>

namespace flow {
namespace {

/// Blocks all signals of this thread, because a new thread inherits the blocked signals of its creator.
class NoSignals {
public:
    NoSignals() {
        sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    NoSignals(NoSignals const&) = delete;
    NoSignals& operator=(NoSignals const&) = delete;
    ~NoSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
    sigset_t before_;
};

/// Owns a loop's pool until the loop ends.
struct LoopsPool final : LoopOwned {
    explicit LoopsPool(Loop& home) : home(home), pool(makeReference<ThreadPool>(home)) {
        home.provide<ThreadPool>(pool.getPtr());
        end = [](LoopOwned* owned) { delete static_cast<LoopsPool*>(owned); };
        home.add(*this);
    }
    ~LoopsPool() {
        if (home.service<ThreadPool>() == pool.getPtr())
            home.provide<ThreadPool>(nullptr);
        pool->stop();
    }

    Loop& home;
    Reference<ThreadPool> pool;
};

} // namespace

ThreadPool::ThreadPool(Loop& home, std::size_t mostThreads) : home_(home), mostThreads_(mostThreads) {
    FLOW_ASSERT(mostThreads > 0, "a ThreadPool of no threads");
    queue_.reset();
    LoopOwned::end = [](LoopOwned* owned) {
        // Keeps the pool alive while its calls are destroyed.
        Reference<ThreadPool> pool = Reference<ThreadPool>::addRef(static_cast<ThreadPool*>(owned));
        pool->stop();
    };
    home_.add(*this);
}

ThreadPool::~ThreadPool() {
    stop();
}

ThreadPool& ThreadPool::ofLoop() {
    Loop& current = Loop::current();
    if (auto* pool = current.service<ThreadPool>())
        return *pool;
    return *(new LoopsPool(current))->pool; // the loop deletes the LoopsPool
}

std::size_t ThreadPool::queued() const {
    std::lock_guard lock(mutex_);
    return queued_;
}

std::string ThreadPool::stateOf(Job const& job) const {
    std::lock_guard lock(mutex_);
    if (job.isQueued)
        return format("a blocking call that is queued: %zu wait for %zu threads", queued_, threads_.size());
    return "a blocking call that runs on a thread";
}

bool ThreadPool::submit(Job& job) {
    if (home_.isSimulated()) {
        job.isQueued = true;
        ++queued_;
        job.sendToLoop();
        return true;
    }
    // Tested without the mutex: in a child, a mutex that a thread of the parent held stays locked.
    FLOW_ASSERT(threads_.empty() || forks_ == forkCount(),
                "a child of fork() has none of the threads of this pool: make a loop of its own there");
    std::unique_lock lock(mutex_);
    if (queued_ >= idle_ && threads_.size() < mostThreads_)
        startThread();
    if (threads_.empty())
        return false;
    pushBack(queue_, static_cast<ListLink&>(job));
    job.isQueued = true;
    ++queued_;
    bool wake = idle_ != 0;
    lock.unlock();
    if (wake)
        changed_.notify_one();
    return true;
}

bool ThreadPool::withdraw(Job& job) {
    std::lock_guard lock(mutex_);
    if (!job.isQueued)
        return false;
    if (home_.isSimulated())
        job.takeBack();
    else
        job.ListLink::unlink();
    --queued_;
    return true;
}

void ThreadPool::Job::sendHome() noexcept {
    postTo<&Job::deliver, &Job::discard>(pool->home_, TaskPriority::DiskIOComplete);
}

void ThreadPool::Job::sendToLoop() noexcept {
    queueAt<&Job::workOnLoop, &Job::discard>(pool->home_, TaskPriority::DiskIOComplete);
}

void ThreadPool::Job::workOnLoop() {
    isQueued = false;
    --pool->queued_;
    if (pool->stopped_)
        return discard();
    work();
    deliver();
}

// Called under the mutex: the new thread waits until the call is in the queue.
void ThreadPool::startThread() {
    NoSignals inherited;
    forks_ = forkCount();
    try {
        threads_.emplace_back([this] { main(); });
    } catch (std::system_error const&) { // the system allows no more threads
    }
}

void ThreadPool::main() {
    std::unique_lock lock(mutex_);
    for (;;) {
        ++idle_;
        changed_.wait(lock, [this] { return stopped_ || !queue_.isEmpty(); });
        --idle_;
        if (stopped_)
            return;
        auto* job = static_cast<Job*>(queue_.next);
        job->ListLink::unlink();
        job->isQueued = false;
        --queued_;
        lock.unlock();
        job->work();
        job->sendHome();
        lock.lock();
    }
}

void ThreadPool::stop() noexcept {
    if (stopped_)
        return;
    if (LoopOwned::isLinked())
        LoopOwned::unlink();
    {
        std::lock_guard lock(mutex_);
        stopped_ = true;
    }
    changed_.notify_all();
    for (auto& each : threads_)
        each.join();
    while (!queue_.isEmpty()) {
        auto* job = static_cast<Job*>(queue_.next);
        job->ListLink::unlink();
        --queued_;
        job->discard();
    }
}

} // namespace flow
