#pragma once
// ThreadSafeQueue under the old header name: any thread adds elements, one thread takes them.
//
//     ThreadSafeQueue<Job> jobs;
//     if (jobs.push(job))               // the consumer may sleep
//         wake(consumer);
//
//     for (Optional<Job> job = jobs.pop(); job.present(); job = jobs.pop()) ...
//     if (jobs.canSleep())              // false if an element was added meanwhile
//         sleep();
//
// A mutex guards the queue. New code should give work to another loop by post() (flow/loop/loop.h).

#include "../../flow.h"

#include <deque>
#include <mutex>
#include <utility>

template <class T>
class ThreadSafeQueue : flow::NonCopyable {
public:
    /// Returns true if canSleep() has returned true since the last push().
    bool push(T element) {
        std::lock_guard lock(mutex_);
        elements_.push_back(std::move(element));
        return std::exchange(maySleep_, false);
    }
    flow::Optional<T> pop() {
        std::lock_guard lock(mutex_);
        if (elements_.empty())
            return {};
        T first = std::move(elements_.front());
        elements_.pop_front();
        return first;
    }
    /// Returns true if the queue is empty; the next push() then returns true.
    bool canSleep() {
        std::lock_guard lock(mutex_);
        maySleep_ = elements_.empty();
        return maySleep_;
    }

private:
    std::mutex mutex_;
    std::deque<T> elements_;
    bool maySleep_ = false;
};
