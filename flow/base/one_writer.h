#pragma once
// OneWriter<T>: a number that one thread changes, and that any thread may read.
//
//     OneWriter<std::uint64_t> requests;
//     requests.add(1);                            // on the thread to which it belongs
//     report(requests.load());                    // on any thread
//
// add() is a plain load, addition and store, without a locked instruction: if two threads add at the same time, one
// addition is lost. All accesses are relaxed: load() returns some stored value, and orders no other memory accesses.

#include <atomic>

namespace flow {

template <class T>
class OneWriter {
public:
    explicit OneWriter(T value = {}) noexcept : value_(value) {}

    T load() const noexcept { return value_.load(std::memory_order_relaxed); }
    void store(T value) noexcept { value_.store(value, std::memory_order_relaxed); }
    void add(T more) noexcept { store(load() + more); }

private:
    std::atomic<T> value_;
};

} // namespace flow
