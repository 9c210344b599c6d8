#pragma once
// What threads share, under the old header name.
//
//     Event done;
//     std::thread worker([&] { ...; done.set(); });
//     done.block();                                     // until set() was called

#include "../../flow.h"

#include <condition_variable>
#include <cstdint>
#include <mutex>

/// Lets one thread wait for another. set() before block() is kept; each block() uses one up.
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

/// A mutex under its old name.
class Mutex : flow::NonCopyable {
public:
    void enter() { mutex_.lock(); }
    void leave() { mutex_.unlock(); }

private:
    std::recursive_mutex mutex_;
};
class MutexHolder : flow::NonCopyable {
public:
    explicit MutexHolder(Mutex& mutex) : mutex_(mutex) { mutex_.enter(); }
    ~MutexHolder() { mutex_.leave(); }

private:
    Mutex& mutex_;
};

/// For short sections: an uncontended mutex is as fast.
class ThreadSpinLock : public Mutex {};
class ThreadSpinLockHolder : public MutexHolder {
public:
    using MutexHolder::MutexHolder;
};

/// All of these return the new value.
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
