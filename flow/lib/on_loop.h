#pragma once
// onLoop: calls a function on another thread's loop and brings the result back.
//
//     Future<int> size = onLoop(storageLoop, [&] { return table.size(); });          // runs on storageLoop's thread
//     Future<Row> row = onLoop(storageLoop, [&table, key] { return table.read(key); }); // an actor there
//     use(co_await row);                                                              // goes on here
//
// The function is moved to the other thread, called there once, and destroyed there. If it returns a Future, that
// future is waited for there. Value or error then comes back: the future that onLoop returns belongs to the loop of the
// caller, like every other. Until then the caller's loop does not end for want of work.
//
// Cancelling does not stop the call: whoever drops the returned future drops only the result. If the other loop is
// destroyed before it has called the function, the future fails with broken_promise. The caller's loop must not be
// destroyed before the result has come back. Loops may wait for each other.

#include "flow/core/error_or.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/loop.h"

#include <optional>
#include <type_traits>

namespace flow {
namespace detail {

template <class R>
struct CallResult {
    using Value = std::conditional_t<std::is_void_v<R>, Void, R>;
    static constexpr bool kLater = false;
};
template <class T>
struct CallResult<Future<T>> {
    using Value = T;
    static constexpr bool kLater = true;
};

/// The call on its way there and back. Belongs to the thread on which it is.
template <class F>
class RemoteCall : public Waiter, public FastAllocated<RemoteCall<F>> {
    using Returned = std::invoke_result_t<F&>;
    using Value = typename CallResult<Returned>::Value;

public:
    static Future<Value> start(Loop& target, F&& call, TaskPriority priority) {
        auto* self = new RemoteCall(std::move(call), priority);
        Future<Value> future = self->promise_.getFuture();
        self->sendTo(target, arrive, refuse);
        return future;
    }

private:
    RemoteCall(F&& call, TaskPriority priority)
        : home_(loop()), guard_(home_), call_(std::move(call)), priority_(priority) {}

    static RemoteCall* of(Waiter* waiter) { return static_cast<RemoteCall*>(waiter); }

    void sendTo(Loop& target, void (*onArrival)(Waiter*), void (*onEnd)(Waiter*)) noexcept {
        resume = onArrival;
        destroy = onEnd;
        awaited = Awaited::turn();
        target.putIntoInbox(*this, priority_);
    }

    // On the other thread.

    static void arrive(Waiter* waiter) {
        RemoteCall* self = of(waiter);
        try {
            if constexpr (CallResult<Returned>::kLater) {
                await(self);
                return;
            } else {
                self->result_.emplace(self->perform());
            }
        } catch (...) { // of the call; or there is no memory for the coroutine that would wait
            self->result_.emplace(currentError());
        }
        self->goHome();
    }
    Value perform() {
        if constexpr (std::is_void_v<Returned>) {
            (*call_)();
            return Void();
        } else {
            return (*call_)();
        }
    }
    static coro::Detached await(RemoteCall* self) {
        try {
            Future<Value> future = (*self->call_)();
            self->result_.emplace(co_await tryGet(std::move(future)));
        } catch (...) {
            self->result_.emplace(currentError());
        }
        self->goHome();
    }
    static void refuse(Waiter* waiter) {
        of(waiter)->result_.emplace(broken_promise());
        of(waiter)->goHome();
    }
    void goHome() noexcept {
        call_.reset(); // what it holds belongs to this thread
        sendTo(home_, deliver, nullptr);
    }

    // At home again, where the guard keeps the loop from ending before.

    static void deliver(Waiter* waiter) {
        std::unique_ptr<RemoteCall> self(of(waiter));
        Error error = self->result_->isError() ? self->result_->getError() : Error();
        try {
            if (!error.isValid())
                return self->promise_.send(std::move(*self->result_).get());
        } catch (...) { // the value cannot be moved
            error = currentError();
        }
        self->promise_.sendError(error);
    }

    Loop& home_;
    WorkGuard guard_;
    Promise<Value> promise_;
    std::optional<F> call_;
    std::optional<ErrorOr<Value>> result_;
    TaskPriority priority_;
};

} // namespace detail

/// Calls call() on the loop `target` and gives what it returns, or the error that it throws. Throws std::bad_alloc.
template <class F>
auto onLoop(Loop& target, F call, TaskPriority priority = TaskPriority::DefaultOnMainThread) {
    return detail::RemoteCall<F>::start(target, std::move(call), priority);
}

} // namespace flow
