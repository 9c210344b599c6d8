#pragma once
// FlowMutex: Flow's name for a Mutex that breaks if its holder fails. One holder at a time, first come, first served.
//
//     FlowMutex mutex;
//     state FlowMutex::Lock lock = wait(mutex.take());
//     ... change what the mutex protects ...
//     lock.release();                                      // the next take gets it
//
// If the last copy of a Lock is destroyed without release(), for example when its holder fails, the data that the mutex
// protects may be half changed. The mutex is then broken: each waiting take and each later take gets broken_promise. If
// that is no concern, use a FlowLock with a Releaser, which releases its permit in any case.
//
// Cancel-safe: a take that is dropped before it is ready leaves the mutex to the next one. A Lock may outlive the
// mutex: the waiting takes still get their turns. A moved-from Lock holds nothing. A moved-from mutex can only be
// destroyed. A take that had to wait resumes through the loop, at the priority DefaultYield: release() runs no waiter.

#include "flow/compat/flow_lock.h"
#include "flow/coro/coroutine.h"

#include <memory>

namespace flow {

class FlowMutex {
public:
    /// Copies share the lock.
    class Lock {
    public:
        Lock() = default;
        /// Gives the mutex to the next take, even if copies of this Lock remain.
        void release() {
            if (held_)
                held_->releaser.release();
        }
        /// Breaks the mutex: the oldest waiter fails with `failure`, all other waiters and later takes with
        /// broken_promise. The waiters run before this returns. Does nothing after release().
        void error(Error failure = broken_promise()) {
            if (held_)
                held_->breakMutex(failure);
        }

    private:
        friend class FlowMutex;
        struct Held {
            Held(std::shared_ptr<FlowLock> of, FlowLock::Releaser taken)
                : lock(std::move(of)), releaser(std::move(taken)) {}
            Held(Held const&) = delete;
            ~Held() { breakMutex(broken_promise()); }
            void breakMutex(Error failure) {
                if (!std::exchange(releaser.lock, nullptr))
                    return;
                std::shared_ptr<FlowLock> kept = lock; // a waiter that runs in kill() may destroy this
                kept->kill(failure, broken_promise());
            }

            std::shared_ptr<FlowLock> lock;
            FlowLock::Releaser releaser;
        };
        std::shared_ptr<Held> held_;
    };

    FlowMutex() : lock_(std::make_shared<FlowLock>()) {}
    FlowMutex(FlowMutex&&) noexcept = default;

    [[nodiscard]] Future<Lock> take(std::source_location caller = std::source_location::current()) {
        return acquire(valid(caller));
    }
    /// Returns true if take() would be ready at once.
    bool available(std::source_location caller = std::source_location::current()) const {
        return valid(caller)->available() > 0 && lock_->waiters() == 0;
    }
    std::int64_t waiters(std::source_location caller = std::source_location::current()) const {
        return valid(caller)->waiters();
    }

private:
    std::shared_ptr<FlowLock> const& valid(std::source_location caller) const {
        FLOW_ASSERT_AT(caller, lock_, "the FlowMutex is invalid: it was moved from");
        return lock_;
    }
    static Future<Lock> acquire(std::shared_ptr<FlowLock> lock, Propagate = {}) {
        co_await lock->take();
        FlowLock::Releaser releaser(*lock);
        Lock result;
        result.held_ = std::make_shared<Lock::Held>(std::move(lock), std::move(releaser));
        co_return result;
    }

    std::shared_ptr<FlowLock> lock_;
};

} // namespace flow
