#include "flow/file/file_threads.h"

#include <csignal>
#include <system_error>

namespace flow::detail {

bool FileThreads::submit(FileCall* call) {
    std::unique_lock lock(mutex_);
    if (queued_ >= idle_ && threads_.size() < kMostThreads)
        startThread();
    if (threads_.empty())
        return false;
    pushBack(queue_, call->link);
    ++queued_;
    bool wake = idle_ != 0;
    lock.unlock();
    if (wake)
        changed_.notify_one();
    return true;
}

// Under the mutex, for which the new thread waits until the call is in the queue.
void FileThreads::startThread() {
    struct NoSignals {
        NoSignals() {
            sigset_t all;
            ::sigfillset(&all);
            ::pthread_sigmask(SIG_SETMASK, &all, &before);
        }
        ~NoSignals() { ::pthread_sigmask(SIG_SETMASK, &before, nullptr); }
        sigset_t before;
    } inherited;
    try {
        threads_.emplace_back([this] { main(); });
    } catch (std::system_error const&) { // there are as many as the system allows
    }
}

void FileThreads::main() {
    std::unique_lock lock(mutex_);
    for (;;) {
        ++idle_;
        changed_.wait(lock, [this] { return ended_ || !queue_.isEmpty(); });
        --idle_;
        if (ended_)
            return;
        auto* call = static_cast<FileCall*>(takeFirst(queue_));
        --queued_;
        lock.unlock();
        call->work(call);
        home_.putIntoInbox(*call, TaskPriority::DiskIOComplete);
        lock.lock();
    }
}

void FileThreads::end() noexcept {
    {
        std::lock_guard lock(mutex_);
        ended_ = true;
    }
    changed_.notify_all();
    for (auto& each : threads_)
        each.join();
    while (!queue_.isEmpty()) {
        Waiter* call = takeFirst(queue_);
        call->destroy(call);
    }
}

} // namespace flow::detail
