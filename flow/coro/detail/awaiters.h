#pragma once
// The awaiters: they decide at each co_await, and at the end, whether to suspend and which frame gets control.

#include "flow/core/error_or.h"
#include "flow/coro/detail/promise_base.h"

namespace flow::coro {

[[noreturn, gnu::noinline, gnu::cold]] inline void throwError(Cell* cell) {
    Error error = takeErrorToThrow(cell);
    throw error;
}

/// Passes control on when a frame has ended: to the waiter `last`, or to the caller if `last` is null.
FLOW_INLINE HandOver handOver(Waiter* last) noexcept {
    if (last) {
        if (kTailCalls) {
            noteRunning(last);
            return resumed(opaque(last));
        }
        handedOver = last;
    }
    return caller();
}

struct AwaiterBase : AwaiterOn<PromiseBase> {
    FLOW_INLINE PromiseBase* promise() const noexcept { return object(); }
};

struct Awaiter : AwaiterBase {
    static constexpr bool kPropagates = false;
    static constexpr bool kEndsFrame = false; // true if the wait may destroy the frame
    static constexpr bool goesOn(PromiseBase*) { return true; }
    FLOW_INLINE bool await_ready() const noexcept { return !promise()->isParked(); }
    FLOW_INLINE void await_suspend(std::coroutine_handle<>) const noexcept { promise()->noteSuspended(); }
    FLOW_INLINE Cell* settled() const {
        Cell* cell = promise()->takeAwaited();
        if (cell && cell->isError()) [[unlikely]]
            throwError(cell);
        return cell;
    }
};

/// The common part of the awaiters in a coroutine that propagates errors: an error never reaches await_resume().
struct PropagatingAwaiter : AwaiterBase {
    static constexpr bool kPropagates = true;
    static constexpr bool kEndsFrame = true;
    static constexpr bool goesOn(PromiseBase*) { return true; }
    FLOW_INLINE bool await_ready() const noexcept { return !promise()->isParked() && !promise()->hasFailed(); }
    FLOW_INLINE void await_suspend(std::coroutine_handle<>) const noexcept {
        promise()->noteSuspended();
        // The compiler removes this test, because it knows here if the link was written.
        if (!promise()->isParked()) [[unlikely]]
            failAtOnce(promise()->frame(), promise()->takeAwaited());
    }
    FLOW_INLINE Cell* settled() const { return promise()->takePropagating(); }
};

/// The common part of the awaiters in a coroutine with NoThrowOnCancel: an error is thrown, but a cancel never reaches
/// await_resume(). The wait of a cancelled coroutine that still runs suspends, and ends the frame.
struct CancelAwaiter : Awaiter {
    static constexpr bool kEndsFrame = true;
    FLOW_INLINE static bool goesOn(PromiseBase* promise) { return !promise->isCancelled(); }
    FLOW_INLINE bool await_ready() const noexcept { return Awaiter::await_ready() && goesOn(promise()); }
    FLOW_INLINE void await_suspend(std::coroutine_handle<>) const noexcept {
        promise()->noteSuspended();
        if (!promise()->isParked()) [[unlikely]]
            failAtOnce(promise()->frame(), promise()->takeAwaited());
    }
};

/// The awaiter of a cell that setOperand() has stored in the promise.
template <class Base>
struct CellAwaiter : Base {
    FLOW_INLINE bool await_ready() const noexcept {
        return !this->promise()->template waitForOperand<Base::kPropagates>() && Base::goesOn(this->promise());
    }
};
template <class T, class Base>
struct ValueAwaiter : CellAwaiter<Base> {
    FLOW_INLINE T await_resume() const { return takeValue<T>(this->settled()); }
};
/// The awaiter of a cell that setBorrowed() has stored in the promise, without a reference.
template <class Base, bool IsStream>
struct BorrowingAwaiter : Base {
    FLOW_INLINE bool await_ready() const noexcept {
        return !this->promise()->template waitForBorrowed<Base::kPropagates, IsStream>() &&
               Base::goesOn(this->promise());
    }

protected:
    /// Returns true if the operand had a value when the wait began, so that no reference was taken.
    FLOW_INLINE bool isBorrowed() const { return !this->promise()->hasAwaited(); }
    FLOW_INLINE Cell* borrowed() const { return this->promise()->borrowed(); }
    FLOW_INLINE Cell* settledOrCounted() const {
        if (!isBorrowed())
            return this->settled();
        addFuture(borrowed());
        return borrowed();
    }
};
// If a constructor of the value might release a borrowed operand, await_resume() takes a reference first.
template <class T, class Base>
struct BorrowedValueAwaiter : BorrowingAwaiter<Base, false> {
    FLOW_INLINE T await_resume() const {
        if constexpr (kFreeToCopy<T>) {
            return this->isBorrowed() ? valueOf<T>(this->borrowed()) : takeValue<T>(this->settled());
        } else {
            return takeValue<T>(this->settledOrCounted());
        }
    }
};
template <class T, class Base>
struct BorrowedStreamAwaiter : BorrowingAwaiter<Base, true> {
    FLOW_INLINE T await_resume() const {
        if constexpr (kFreeToCopy<T>) {
            bool counted = !this->isBorrowed();
            Cell* cell = counted ? this->settled() : this->borrowed();
            T value = StreamState<T>::take(cell);
            if (counted)
                releaseStream(cell);
            return value;
        } else {
            return takeNext<T>(this->settledOrCounted());
        }
    }
};
/// The awaiter of delays and yields. After the wait there is a cell to take only if the coroutine was cancelled.
template <class Base>
struct DelayAwaiter : Base {
    FLOW_INLINE void await_resume() const {
        if constexpr (!Base::kEndsFrame)
            if (this->promise()->hasAwaited()) [[unlikely]]
                throwError(this->promise()->takeAwaited());
    }
};
/// The awaiter of operations in place. The operation is the temporary of the expression, or a variable.
template <class Op, class Base>
struct OperationAwaiter {
    PromiseBase* promise;
    Op* op;

    FLOW_INLINE bool await_ready() const {
        return !promise->waitForOperation<Base::kPropagates>(*op) && Base::goesOn(promise);
    }
    FLOW_INLINE void await_suspend(std::coroutine_handle<>) const noexcept {
        promise->noteSuspended();
        if constexpr (Base::kEndsFrame)
            if (!promise->isParked()) [[unlikely]]
                failAtOnce(promise->frame(), promise->takeAwaited());
    }
    FLOW_INLINE typename Op::Result await_resume() const {
        if (Cell* failed = promise->takePropagating()) [[unlikely]]
            throwError(failed);
        return op->take();
    }
};
/// The awaiter A, which gives a Void, with a co_await that gives nothing.
template <class A>
struct WithoutVoid : A {
    FLOW_INLINE void await_resume() const { (void)A::await_resume(); }
};
/// The awaiter of tryGet(). Marked is true if the coroutine propagates errors and cancels at all other waits. With
/// Keeps, the coroutine's own cell keeps the exception behind the error.
template <class T, class Base, bool Marked, bool Keeps>
struct TryAwaiter : CellAwaiter<Base> {
    FLOW_INLINE ErrorOr<T> await_resume() const {
        if constexpr (Marked)
            this->promise()->cell()->flags |= Cell::kPropagates;
        Cell* cell = this->promise()->takeAwaited();
        if (cell && cell->isError()) {
            if constexpr (Keeps)
                shareException(this->promise()->cell(), cell);
            return ErrorOr<T>::failed(takeError(cell));
        }
        return takeValue<T>(cell);
    }
};
/// The awaiter of outcome(), which passes a cancel of the coroutine on, as Base does.
template <class T, class Base>
struct OutcomeAwaiter : CellAwaiter<Base> {
    FLOW_INLINE ErrorOr<T> await_resume() const {
        Cell* cell = this->promise()->takeAwaited();
        if (!cell || !cell->isError())
            return takeValue<T>(cell);
        if (this->promise()->isCancelled())
            throwError(cell);
        return ErrorOr<T>::failed(takeError(cell));
    }
};
struct ParkedAwaiter {
    bool await_ready() const noexcept { return false; }
    FLOW_INLINE void await_suspend([[maybe_unused]] std::coroutine_handle<> handle) const noexcept {
        PromiseBase::of(handle)->noteSuspended();
    }
    void await_resume() const noexcept {}
};

/// Asserts that the body failed: otherwise it has run past its last statement, without a co_return.
inline void requireFailure(Waiter* frame) noexcept {
    if (frame->awaited.isFailed()) [[likely]]
        return;
    runningActor = reinterpret_cast<const void*>(frame->destroy);
    FLOW_ASSERT(frame->awaited.isFailed(), "a coroutine that returns a value ended without a co_return");
}

/// Ends the frame with the error in the cell. Not inlined: a coroutine with less code is more often inlined itself.
[[gnu::noinline, gnu::cold]] inline Waiter* endWithError(Waiter* frame) noexcept {
    requireFailure(frame);
    frame->awaited = {};
    return failFrame(frame, Cell::of(frame)->error);
}
[[gnu::noinline, gnu::cold]] inline HandOver endWithErrorAndHandOver(Waiter* frame) noexcept {
    return handOver(endWithError(frame));
}
/// Like endWithError(), if the parameters have been destroyed already.
[[gnu::noinline, gnu::cold]] inline Waiter* finishWithError(Waiter* frame) noexcept {
    requireFailure(frame);
    frame->awaited = {};
    Cell* cell = Cell::of(frame);
    return finishFrame(cell, statusOfError(cell));
}

/// The awaiter at the end of a coroutine: it destroys the frame, completes the cell, and runs a waiter. The awaiter
/// lies in the frame, so after destroy() it uses only local variables. At the final suspension Status is kUnset: the
/// coroutine ends with a value, or with the error that is in the cell.
template <std::uint8_t Status>
struct Ending {
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    FLOW_INLINE HandOver await_suspend(std::coroutine_handle<Promise> handle) const noexcept {
        auto* frame = static_cast<Waiter*>(handle.address());
        Cell* cell = Cell::of(frame);
        Waiter* last = nullptr;
        if (Status == Cell::kError ||
            (Status == Cell::kUnset && !handle.promise().template hasReturned<Promise::kReturnsValue>())) [[unlikely]] {
            if constexpr (kHandsOverAnywhere)
                return endWithErrorAndHandOver(frame);
            if constexpr (Status == Cell::kUnset && !kDestroysInOrder) {
                handle.promise().destroyParameters(frame);
                last = finishWithError(frame);
            } else {
                last = endWithError(frame);
            }
        } else {
            if constexpr (Status == Cell::kUnset)
                handle.promise().destroyParameters(frame);
            else
                opaque(frame)->destroy(frame);
            if constexpr (Status == Cell::kNever) {
                cell->flags = Cell::kNever;
                releasePromise(cell);
            } else {
                last = finishFrame<typename Promise::Value>(cell, Cell::kValue);
            }
        }
        return handOver(last);
    }
    [[noreturn]] void await_resume() const noexcept { __builtin_unreachable(); }
};

} // namespace flow::coro
