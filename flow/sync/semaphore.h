#pragma once
// Semaphore: a number of permits, from zero on. Mutex: one holder at a time; the Lock releases it at its end.
//
//     Semaphore free(0);
//     co_await free.acquire();                      // suspends until there is a permit
//     free.release();
//
//     Mutex mutex;
//     {
//         Mutex::Lock lock = co_await mutex.lock();
//         ...                                       // the only holder; given back at the end of the block
//     }
//
// acquire() and lock() are operations in place, for every style: if one loses a race it has taken no permit. The
// waiters are served in order, in turns of the loop, and nothing overtakes them: a new acquire() queues behind them,
// also in the task that has just released. Belongs to one thread. When it is destroyed its waiters get broken_promise;
// a Lock must not outlive its Mutex.

#include "flow/wait/source.h"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace flow {

class Semaphore {
public:
    struct Acquire {
        using Result = Void;
        Semaphore* semaphore;

        bool isReady() const { return semaphore->free_ != 0 || semaphore->passesTo(*this); }
        void park(WaiterNode& waiter) { semaphore->waiting_.park(waiter, *this); }
        Void take() const {
            --(semaphore->free_ != 0 ? semaphore->free_ : semaphore->passed_);
            return Void();
        }
        void describe(Description& out) const {
            out.text = "a permit of a Semaphore";
            out.lock = semaphore;
        }
    };

    explicit Semaphore(std::size_t permits) : free_(permits) {}

    Acquire acquire() { return {this}; }
    void release(std::size_t permits = 1) {
        (waiting_.isWaitedFor() ? passed_ : free_) += permits;
        waiting_.wakeInTurn();
    }
    /// Takes a permit if there is one for which nothing waits.
    bool tryAcquire() {
        if (permits() == 0 || waiting_.isWaitedFor())
            return false;
        (void)acquire().take();
        return true;
    }
    /// The permits that are free, or on their way to a waiter.
    std::size_t permits() const { return free_ + passed_; }

private:
    bool passesTo(Acquire const& acquire) { return passed_ != 0 && waiting_.isNext(acquire); }

    std::size_t free_;       // released while nothing waited
    std::size_t passed_ = 0; // released for the first waiter, so that nothing overtakes it
    Source<Acquire> waiting_;
};

class Mutex {
public:
    class Lock {
    public:
        Lock() = default;
        explicit Lock(Mutex& mutex) : mark_(markOf(mutex)) {}
        Lock(Lock&& other) noexcept : mark_(other.takeMark()) {}
        Lock& operator=(Lock&& other) noexcept {
            Lock taken(std::move(other));
            std::swap(mark_, taken.mark_);
            return *this;
        }
        ~Lock() { unlock(); }

        void unlock() {
            if (std::uintptr_t mark = takeMark())
                reinterpret_cast<Mutex*>(mark - 1)->unlock();
        }

    private:
        friend class Mutex;
        /// The address with its lowest bit set. So the value in a holder's frame differs from a plain reference to the
        /// mutex, and a report of pending operations finds the holder.
        static std::uintptr_t markOf(Mutex& mutex) { return reinterpret_cast<std::uintptr_t>(&mutex) + 1; }
        /// The asm keeps the compiler from leaving the mark in a frame after the end of the Lock.
        std::uintptr_t takeMark() {
            std::uintptr_t mark = std::exchange(mark_, 0);
            asm("" : : "m"(mark_));
            return mark;
        }

        std::uintptr_t mark_ = 0; // 0: holds nothing
    };
    struct Locking {
        using Result = Lock;
        Mutex* mutex;

        bool isReady() const { return mutex->state_ == State::Free || mutex->passesTo(*this); }
        void park(WaiterNode& waiter) { mutex->waiting_.park(waiter, *this); }
        Lock take() const {
            mutex->state_ = State::Held;
            return Lock(*mutex);
        }
        void describe(Description& out) const {
            out.text = "a Mutex";
            out.lock = reinterpret_cast<void const*>(Lock::markOf(*mutex));
            out.mostHeld = 1;
        }
    };

    Locking lock() { return {this}; }
    bool isLocked() const { return state_ == State::Held; }

private:
    enum class State : std::uint8_t {
        Free,
        Passed, // to the first waiter, so that nothing overtakes it
        Held,
    };

    bool passesTo(Locking const& locking) { return state_ == State::Passed && waiting_.isNext(locking); }
    void unlock() {
        state_ = waiting_.isWaitedFor() ? State::Passed : State::Free;
        waiting_.wakeInTurn();
    }

    State state_ = State::Free;
    Source<Locking> waiting_;
};

} // namespace flow
