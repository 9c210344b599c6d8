#pragma once
// onLoop: calls a function on another thread's loop and brings the result back.
//
//     Future<int> size = onLoop(storageLoop, [&] { return table.size(); });          // runs on storageLoop's thread
//     Future<Row> row = onLoop(storageLoop, [&table, key] { return table.read(key); }); // an actor there
//     use(co_await row);                                                              // goes on here
//
// The function is moved to the other thread, called there once, and destroyed there. If it returns a Future, that
// future is waited for there. Value or error then comes back: the future that onLoop returns belongs to the loop of the
// caller, like every other. Until then the caller's loop does not end for want of work, and must not be destroyed.
//
// Cancelling the returned future, or dropping it, gives up only the answer: the call goes on where it is, so that what
// it refers to must live on, but the caller's loop does not wait for it. timeoutError(onLoop(...), seconds) does that.
//
// If the other loop is destroyed before there is an answer, the future that it waits for is dropped there, and the
// caller gets broken_promise. Loops may wait for each other.

#include "flow/core/error_or.h"
#include "flow/wait/pending.h"

#include <atomic>
#include <memory>
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

/// The call on its way there and back. Belongs to the thread on which it is; what belongs to the caller stays behind in
/// an Asker. Who comes first of the answer and the caller that gives up settles the call; the other one clears up.
template <class F>
class RemoteCall : public Waiter, public LoopOwned, public FastAllocated<RemoteCall<F>> {
    using Returned = std::invoke_result_t<F&>;
    using Value = typename CallResult<Returned>::Value;

public:
    static Future<Value> start(Loop& target, F&& call, TaskPriority priority) {
        std::unique_ptr<RemoteCall> self(new RemoteCall(std::move(call), priority));
        Cell* cell = newCell<Value>(sizeof(Asker), 1, 1, Cell::kHasFrame);
        self->asker_ = ::new (cell->frame()) Asker(self.get());
        self.release()->sendTo(target, arrive, refuse);
        return Future<Value>::adopt(cell);
    }

private:
    /// The frame of the caller's future. Counts as parked, linked to itself, so that a cancel resumes it.
    struct Asker : Waiter {
        explicit Asker(RemoteCall* c) : Waiter{giveUp, {nullptr}, {}, {}}, call(c), guard(c->home_) { link.reset(); }

        RemoteCall* call; // null when its answer has died with the loop
        WorkGuard guard;
    };

    RemoteCall(F&& call, TaskPriority priority) : home_(loop()), call_(std::move(call)), priority_(priority) {
        LoopOwned::end = endWithLoop;
    }

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
                Future<Value> future = (*self->call_)();
                if (!validCell(future)->isReady())
                    return self->waitFor(std::move(future));
                self->take(std::move(future));
            } else if constexpr (std::is_void_v<Returned>) {
                (*self->call_)();
                self->result_.emplace(Void());
            } else {
                self->result_.emplace((*self->call_)());
            }
        } catch (...) {
            self->fail(currentError());
        }
        self->answer();
    }
    void waitFor(Future<Value> future) noexcept {
        loop().add(*this);
        resume = collect;
        park(this, std::move(future).release());
    }
    static void collect(Waiter* waiter) {
        RemoteCall* self = of(waiter);
        self->LoopOwned::unlink();
        try {
            self->take(Future<Value>::adopt(detail::takeAwaited(waiter)));
        } catch (...) {
            self->fail(currentError());
        }
        self->answer();
    }
    void take(Future<Value> future) {
        if (future.isError())
            fail(future.getError());
        else
            result_.emplace(takeValue<Value>(std::move(future).release()));
    }
    static void endWithLoop(LoopOwned* owned) {
        auto* self = static_cast<RemoteCall*>(owned);
        abandon(self);
        refuse(self);
    }
    static void refuse(Waiter* waiter) {
        of(waiter)->fail(broken_promise());
        of(waiter)->answer();
    }
    void fail(Error error) { result_.emplace(ErrorOr<Value>::failed(error)); }
    void answer() noexcept {
        call_.reset(); // what it holds belongs to this thread
        if (settled_.exchange(true, std::memory_order_acq_rel))
            delete this;
        else
            sendTo(home_, deliver, discard);
    }

    // At home, where the loop lives until nobody waits for an answer or it has come.

    static void giveUp(Waiter* waiter) {
        auto* asker = static_cast<Asker*>(waiter);
        releaseFuture(detail::takeAwaited(asker));
        if (RemoteCall* call = asker->call) {
            Loop& home = call->home_;
            call->asker_ = nullptr;
            if (call->settled_.exchange(true, std::memory_order_acq_rel))
                home.expectPost(); // the answer is on its way
        }
        if (Waiter* last = finish(asker, actor_cancelled()))
            FLOW_HAND_OVER(last);
    }
    static void deliver(Waiter* waiter) {
        if (!of(waiter)->asker_)
            discard(waiter);
        else if (Waiter* last = unpack(of(waiter)))
            FLOW_HAND_OVER(last);
    }
    static void discard(Waiter* waiter) {
        std::unique_ptr<RemoteCall> self(of(waiter));
        if (self->asker_)
            self->asker_->call = nullptr;
        else
            self->home_.postCame();
    }
    static Waiter* unpack(RemoteCall* call) noexcept {
        std::unique_ptr<RemoteCall> self(call);
        Error error = self->result_->isError() ? self->result_->getError() : Error();
        Asker* asker = self->asker_;
        try {
            if (!error.isValid())
                constructValue<Value>(Cell::of(asker), std::move(*self->result_).get());
        } catch (...) { // the value cannot be moved
            error = currentError();
        }
        self.reset();
        return finish(asker, error);
    }
    static Waiter* finish(Asker* asker, Error error) noexcept {
        Cell* cell = Cell::of(asker);
        asker->~Asker();
        cell->error = error;
        return finishFrame<Value>(cell, error.isValid() ? Cell::kError : Cell::kValue);
    }

    Loop& home_;
    Asker* asker_; // null when it has given up; only the caller's thread looks at it
    std::atomic<bool> settled_{false};
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
