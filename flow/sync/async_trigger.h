#pragma once
// AsyncTrigger: an event that happens again and again.
//
//     AsyncTrigger changed;
//     wait(changed.onTrigger());       // the next call of trigger()
//     changed.trigger();
//
// A trigger wakes only the waiters that there are at that time: it is not kept for later. They run before trigger()
// returns, newest first, and may destroy the AsyncTrigger. When it is destroyed, the waiters get broken_promise.
// Cancel-safe.

#include "flow/core/future.h"

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

} // namespace flow
