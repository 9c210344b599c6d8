#pragma once
// AsyncVar<T>: a variable with a future for its next change.
//
//     AsyncVar<int> epoch(1);
//     loop {
//         use(epoch.get());
//         wait(epoch.onChange());
//     }
//     epoch.set(2);
//
// The waiters run inside set(), newest first, and read the new value. They may call set() again, or destroy the
// AsyncVar. The destructor fails all waiters with broken_promise. A change wakes only present waiters: do not wait
// between get() and onChange(). T needs == (for set) and copy assignment. Cancel-safe. A Reference may hold it.

#include "flow/core/future.h"
#include "flow/memory/reference.h"

#include <optional>
#include <utility>

namespace flow {

template <class T>
class AsyncVar : public ReferenceCounted<AsyncVar<T>> {
public:
    AsyncVar() : value_() {}
    AsyncVar(T value) : value_(std::move(value)) {}
    AsyncVar(AsyncVar&& other) noexcept
        : value_(std::move(other.value_)), change_(std::exchange(other.change_, std::nullopt)) {}
    AsyncVar& operator=(AsyncVar&& other) noexcept {
        value_ = std::move(other.value_);
        auto before = std::exchange(change_, std::exchange(other.change_, std::nullopt));
        return *this;
    }

    T const& get() const { return value_; }
    /// Returns a future that is ready at the next change.
    Future<Void> onChange() const {
        if (!change_)
            change_.emplace();
        return change_->getFuture();
    }
    /// Sets the value and wakes the waiters. Does nothing if the new value is equal to the old one.
    void set(T const& value) {
        if (!(value_ == value))
            setUnconditional(value);
    }
    /// Like set(), but wakes the waiters even if the value is equal.
    void setUnconditional(T const& value) {
        value_ = value;
        trigger();
    }
    /// Wakes the waiters without a change.
    void trigger() {
        if (auto now = std::exchange(change_, std::nullopt))
            now->send(Void());
    }

private:
    T value_;
    mutable std::optional<Promise<Void>> change_; // made by the first onChange() after a change
};

} // namespace flow
