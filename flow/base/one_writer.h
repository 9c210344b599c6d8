#pragma once
// OneWriter<T>: a number that one thread changes, and that any thread may read.
//
//     OneWriter<std::uint64_t> requests;
//     requests.add(1);                            // on the thread to which it belongs
//     report(requests.load());                    // on any thread
//
// add() is a load, an addition and a store, as for a plain variable, and no locked instruction. So if two threads add
// at the same time, one addition is lost. A reader gets a value that was there; it learns nothing of other variables.

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
