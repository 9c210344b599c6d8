#pragma once
// AsyncTrigger: Flow's name for a Trigger that runs the waiters inside trigger(). The actor trigger() calls a function
// when a future is ready.
//
//     AsyncTrigger changed;
//     wait(changed.onTrigger());       // the next call of trigger()
//     changed.trigger();
//
//     Future<Void> closing = trigger([this] { close(); }, done);
//
// A call of trigger() wakes only the waiters of that moment. They run before trigger() returns, newest first, and may
// destroy the AsyncTrigger. Its destructor sends broken_promise to the waiters. Cancel-safe.

#include "flow/coro/coroutine.h"

#include <functional>
#include <optional>

namespace flow {

class AsyncTrigger {
public:
    AsyncTrigger() = default;
    AsyncTrigger(AsyncTrigger&& other) noexcept : next_(std::exchange(other.next_, std::nullopt)) {}
    AsyncTrigger& operator=(AsyncTrigger&& other) noexcept {
        auto before = std::exchange(next_, std::exchange(other.next_, std::nullopt));
        return *this;
    }

    /// Returns a future that is ready at the next trigger().
    Future<Void> onTrigger() const {
        if (!next_)
            next_.emplace();
        return next_->getFuture();
    }
    void trigger() {
        if (auto now = std::exchange(next_, std::nullopt))
            now->send(Void());
    }
    /// Fails the waiters with `error`.
    void sendError(Error error) {
        if (auto now = std::exchange(next_, std::nullopt))
            now->sendError(error);
    }
    /// Returns true if a future of the next trigger() exists.
    bool isAwaited() const { return next_ && next_->getFutureReferenceCount() != 0; }

private:
    mutable std::optional<Promise<Void>> next_; // made at the first onTrigger()
};

namespace combine {
// The coroutines of the functions below. They have no parameter `caller`, which would enlarge the frames.

template <class F>
Future<Void> trigger(F function, Future<Void> signal, Propagate = {}) {
    co_await std::move(signal);
    std::invoke(function);
}
} // namespace combine

/// Calls `function` when the signal has a value; then the result is ready. If the signal fails, the result fails too.
template <class F>
FLOW_INLINE Future<Void> trigger(F function, Future<Void> signal,
                                 std::source_location caller = std::source_location::current()) {
    checkValid(signal, caller);
    return combine::trigger(std::move(function), std::move(signal));
}

} // namespace flow
