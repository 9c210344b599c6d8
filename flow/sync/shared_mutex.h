#pragma once
// SharedMutex: a lock that any number of readers hold together, or one writer alone.
//
//     SharedMutex mutex;
//     {
//         SharedMutex::SharedLock reading = co_await mutex.lockShared();
//         ...                                               // other readers may hold it too, but no writer
//     }
//     {
//         SharedMutex::Lock writing = co_await mutex.lock();
//         ...                                               // the only holder
//     }
//
// The destructor of a lock releases it, also after a cancel. unlock() releases the lock earlier. lockShared() and
// lock() return operations in place, for actors, coroutines and fibers. An operation that loses a race, or is
// cancelled, has locked nothing, and the waiters behind it move up.
//
// Waiters are served in order, in turns of the loop, and none overtakes another. So a waiting writer stops new readers,
// and does not starve. Neighbouring readers get the lock together. A holder must not wait for the same SharedMutex
// again: lockShared() in a reader waits forever if a writer waits in between, and lock() in a reader waits for itself.
//
// A SharedMutex belongs to one thread. The destructor fails the waiters with broken_promise. No lock may be held then.

#include "flow/sync/semaphore.h"

namespace flow {

class SharedMutex {
public:
    class SharedLock : public Semaphore::Permit {
    public:
        using Permit::Permit;
        void unlock() { release(); }
    };
    class Lock : public Semaphore::Permit {
    public:
        using Permit::Permit;
        void unlock() { release(); }
    };

    Semaphore::AcquireGuarded<SharedLock> lockShared() { return {all_.acquire()}; }
    Semaphore::AcquireGuarded<Lock> lock() { return {all_.acquire(kMostReaders)}; }
    /// True while a writer holds the lock.
    bool isLocked() const { return all_.permits() == 0; }

private:
    static constexpr std::size_t kMostReaders = std::size_t{1} << 31; // a writer takes the permits of all

    Semaphore all_{kMostReaders, Semaphore::Order::FirstComeFirstServed, Semaphore::Kind::SharedMutex};
};

} // namespace flow
