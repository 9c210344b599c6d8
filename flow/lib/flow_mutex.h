#pragma once
// FlowMutex: one at a time, first come, first served, with a guard as the result.
//
//     FlowMutex mutex;
//     state FlowMutex::Lock lock = wait(mutex.take());     // until the last copy of `lock` dies or lock.release()
//
// Cancel-safe: a Lock that arrives and is never looked at gives the mutex back. A Lock may outlive the mutex; one that
// was moved from holds nothing. When the mutex is destroyed those who wait get broken_promise. A mutex that was moved
// from can only be destroyed. Whoever has to wait goes on through the loop, at the priority DefaultYield: release()
// runs nobody else's code.

#include "flow/coro/coroutine.h"
#include "flow/lib/flow_lock.h"

#include <memory>

namespace flow {

class FlowMutex {
public:
    /// Copies share the lock.
    class Lock {
    public:
        /// Holds nothing.
        Lock() = default;
        /// Gives the mutex to the next, whatever copies there are.
        void release() {
            if (held_)
                held_->releaser.release();
        }
        /// Fails those who wait, and all who come later, with the error. The former run before this returns. Does
        /// nothing after release().
        void error(Error failure = broken_promise()) {
            if (!held_ || !held_->releaser.lock)
                return;
            std::shared_ptr<FlowLock> lock = held_->lock; // those who run may destroy this Lock
            lock->kill(failure);
        }

    private:
        friend class FlowMutex;
        struct Held {
            std::shared_ptr<FlowLock> lock;
            FlowLock::Releaser releaser; // dies first
        };
        std::shared_ptr<Held> held_;
    };

    FlowMutex() : lock_(std::make_shared<FlowLock>()) {}
    FlowMutex(FlowMutex&&) noexcept = default;
    ~FlowMutex() {
        if (lock_)
            lock_->kill();
    }

    [[nodiscard]] Future<Lock> take() { return acquire(valid()); }
    /// Whether take() would be ready at once.
    bool available() const { return valid()->available() > 0 && lock_->waiters() == 0; }
    std::int64_t waiters() const { return valid()->waiters(); }

private:
    std::shared_ptr<FlowLock> const& valid() const {
        FLOW_ASSERT(lock_, "the FlowMutex is invalid: it was moved from");
        return lock_;
    }
    static Future<Lock> acquire(std::shared_ptr<FlowLock> lock, Propagate = {}) {
        co_await lock->take();
        FlowLock::Releaser releaser(*lock);
        Lock result;
        result.held_ = std::make_shared<Lock::Held>();
        result.held_->lock = std::move(lock);
        result.held_->releaser = std::move(releaser);
        co_return result;
    }

    std::shared_ptr<FlowLock> lock_;
};

} // namespace flow
