#pragma once
// AsyncTrigger: Flow's name for a Trigger of which the waiters run inside trigger(). trigger(): calls a function when a
// future is ready.
//
//     AsyncTrigger changed;
//     wait(changed.onTrigger());       // the next call of trigger()
//     changed.trigger();
//
//     Future<Void> closing = trigger([this] { close(); }, done);
//
// A trigger wakes only the waiters that there are at that time: it is not kept for later. They run before trigger()
// returns, newest first, and may destroy the AsyncTrigger. When it is destroyed, the waiters get broken_promise.
// Cancel-safe.

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

    /// Ready at the next trigger().
    Future<Void> onTrigger() const {
        if (!next_)
            next_.emplace();
        return next_->getFuture();
    }
    void trigger() {
        if (auto now = std::exchange(next_, std::nullopt))
            now->send(Void());
    }
    /// Fails the waiters.
    void sendError(Error error) {
        if (auto now = std::exchange(next_, std::nullopt))
            now->sendError(error);
    }
    /// True if a future of the next trigger exists.
    bool isAwaited() const { return next_ && next_->getFutureReferenceCount() != 0; }

private:
    mutable std::optional<Promise<Void>> next_; // made at the first onTrigger()
};

namespace combine {
// The coroutines of the functions below. Only those functions have the parameter `caller`, which would enlarge the
// frames.

template <class F>
Future<Void> trigger(F function, Future<Void> signal, Propagate = {}) {
    co_await std::move(signal);
    std::invoke(function);
}
} // namespace combine

/// Calls the function when the signal has a value; then the result is ready. An error of the signal fails the result
/// without a call.
template <class F>
FLOW_INLINE Future<Void> trigger(F function, Future<Void> signal,
                                 std::source_location caller = std::source_location::current()) {
    checkValid(signal, caller);
    return combine::trigger(std::move(function), std::move(signal));
}

} // namespace flow
