#pragma once
// Objects that threads share, under the old header name.
//
//     Event done;
//     std::thread worker([&] { ...; done.set(); });
//     done.block();                                     // returns after set()

#include "../../flow.h"

#include <condition_variable>
#include <cstdint>
#include <mutex>

/// An event for which a thread can wait. A set() before block() is kept, but not counted: each block() clears it.
class Event : flow::NonCopyable {
public:
    void set() {
        std::lock_guard lock(mutex_);
        isSet_ = true;
        changed_.notify_one();
    }
    void block() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return isSet_; });
        isSet_ = false;
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool isSet_ = false;
};

class Mutex : flow::NonCopyable {
public:
    void enter() { mutex_.lock(); }
    void leave() { mutex_.unlock(); }

private:
    std::recursive_mutex mutex_;
};
namespace flow::compat {
/// Holds the lock from the constructor to the destructor.
template <class Lock>
class LockHolder : NonCopyable {
public:
    explicit LockHolder(Lock& lock) : lock_(lock) { lock_.enter(); }
    ~LockHolder() { lock_.leave(); }

private:
    Lock& lock_;
};
} // namespace flow::compat

class MutexHolder : public flow::compat::LockHolder<Mutex> {
public:
    using LockHolder::LockHolder;
};

/// A mutex: without contention it is as fast as a spin lock.
class ThreadSpinLock : public Mutex {};
class ThreadSpinLockHolder : public MutexHolder {
public:
    using MutexHolder::MutexHolder;
};

/// For data that only one thread uses.
class ThreadUnsafeSpinLock {
public:
    void enter() { isEntered_ = true; }
    void leave() { isEntered_ = false; }
    void assertNotEntered() const { FLOW_ASSERT_TRUE(!isEntered_); }

private:
    bool isEntered_ = false;
};
class ThreadUnsafeSpinLockHolder : public flow::compat::LockHolder<ThreadUnsafeSpinLock> {
public:
    using LockHolder::LockHolder;
};

/// These functions return the new value.
inline std::int32_t interlockedIncrement(volatile std::int32_t* value) {
    return __atomic_add_fetch(value, 1, __ATOMIC_SEQ_CST);
}
inline std::int32_t interlockedDecrement(volatile std::int32_t* value) {
    return __atomic_sub_fetch(value, 1, __ATOMIC_SEQ_CST);
}
inline std::int64_t interlockedIncrement64(volatile std::int64_t* value) {
    return __atomic_add_fetch(value, 1, __ATOMIC_SEQ_CST);
}
inline std::int64_t interlockedDecrement64(volatile std::int64_t* value) {
    return __atomic_sub_fetch(value, 1, __ATOMIC_SEQ_CST);
}
/// These functions return the old value. The first sets `*value` to `next` if it is `expected`.
inline std::int32_t interlockedCompareExchange(volatile std::int32_t* value, std::int32_t next, std::int32_t expected) {
    __atomic_compare_exchange_n(value, &expected, next, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return expected;
}
inline std::int64_t interlockedExchangeAdd64(volatile std::int64_t* value, std::int64_t more) {
    return __atomic_fetch_add(value, more, __ATOMIC_SEQ_CST);
}
inline std::int64_t interlockedExchange64(volatile std::int64_t* value, std::int64_t next) {
    return __atomic_exchange_n(value, next, __ATOMIC_SEQ_CST);
}
inline std::int64_t interlockedOr64(volatile std::int64_t* value, std::int64_t bits) {
    return __atomic_fetch_or(value, bits, __ATOMIC_SEQ_CST);
}
template <class T>
T* interlockedExchangePtr(T* volatile* value, T* next) {
    return __atomic_exchange_n(value, next, __ATOMIC_SEQ_CST);
}
