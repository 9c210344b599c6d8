#pragma once
// PromiseBase: the beginning of each coroutine's promise. It makes the frame a Waiter, and parks it at each co_await.

#include "flow/base/inline.h"
#include "flow/core/detail/kept_exception.h"
#include "flow/core/detail/wait_place.h"
#include "flow/wait/detail/choose.h"
#ifdef __clang__
#include "flow/coro/detail/abi_clang.h"
#else
#include "flow/coro/detail/abi_gcc.h"
#endif

#include <coroutine>
#include <source_location>

namespace flow::coro {

/// The part of a Waiter that lies in the promise: the links and `awaited`. Every promise begins with this part.
class PromiseBase {
public:
    PromiseBase(PromiseBase const&) = delete;
    PromiseBase& operator=(PromiseBase const&) = delete;

    /// Returns the frame. Until the compiler has split the coroutine, it takes the promise for a local object, and an
    /// address in front of the promise for out of bounds. The empty asm hides that the pointer comes from the promise.
    FLOW_INLINE Waiter* frame() {
        char* address = reinterpret_cast<char*>(this);
        asm("" : "+r"(address));
        return reinterpret_cast<Waiter*>(address - offsetof(Waiter, link));
    }
    Cell* cell() { return Cell::of(frame()); }
    static PromiseBase* of(std::coroutine_handle<> handle) {
        return reinterpret_cast<PromiseBase*>(&static_cast<Waiter*>(handle.address())->link);
    }

    // Each waitFor function parks the frame and returns true. If the operand is ready, the function returns false and
    // does not park (for an error, the result may be true: see waitForOperand()). No other code runs before the frame
    // has suspended, so nothing can resume it earlier. The functions are inlined, and pass only words: if the address
    // of an object were taken before the compiler splits the coroutine, the object would get a place in the frame.

    /// Waits for a cell. Takes over one future reference. With Propagates, an error will end the frame instead of
    /// resuming it. Returns the result of waitForOperand().
    template <bool Propagates = false>
    FLOW_INLINE bool waitFor(Cell* cell) {
        setOperand(cell);
        return waitForOperand<Propagates>();
    }
    /// The two steps of waitFor(). await_ready uses the result of waitForOperand(), so it need not read the link.
    /// waitForOperand() returns true if the coroutine must suspend; with Propagates, also if the operand has failed.
    FLOW_INLINE void setOperand(Cell* cell) { awaited_ = cell; }
    template <bool Propagates>
    FLOW_INLINE bool waitForOperand() {
        Cell* cell = awaited_.cell();
        if (isCancelled()) [[unlikely]] {
            awaited_ = cancelledCell(cell, frame());
            return Propagates;
        }
        if (cell->isReady())
            return Propagates && cell->isError();
        checkThread(cell);
        parkAt<Propagates>(cell);
        return true;
    }
    /// setBorrowed() and waitForBorrowed() are the two steps for a future or a stream that is an lvalue: the operand
    /// stays in its own variable. If the operand is ready, the co_await reads it and takes no reference: nothing
    /// that runs in between could release it (with gcc 12 the rest of the expression could: see kAwaitsInOrder). Then
    /// `awaited_` is empty, the link is in no list, and its `prev` holds the cell. A reference for each operand would
    /// make the wait for a ready future slower, and with gcc also the wait for a stream.
    FLOW_INLINE void setBorrowed(Cell* cell) {
        link_.prev = &cell->waiters;
        if constexpr (!kAwaitsInOrder)
            awaited_ = cell;
    }
    FLOW_INLINE Cell* borrowed() const { return reinterpret_cast<Cell*>(link_.prev); }
    template <bool Propagates, bool IsStream>
    FLOW_INLINE bool waitForBorrowed() {
        Cell* cell = borrowed();
        bool ready = cell->isReady();
        if (!(IsStream ? ready : __builtin_expect(ready, false))) { // a stream is often read until it is empty
            addFuture(cell);
            awaited_ = cell;
            parkBehindHead<Propagates>(cell);
            return true;
        }
        if (!cell->isError()) [[likely]] {
            if constexpr (!kAwaitsInOrder)
                awaited_ = {};
            return false;
        }
        addFuture(cell);
        awaited_ = cell;
        return Propagates;
    }
    FLOW_INLINE bool waitFor(Delay delay) {
        if (isCancelled()) [[unlikely]] {
            awaited_ = cancelledCell(nullptr, frame());
            return known(false);
        }
        Loop::current().parkUntil(frame(), delay.deadline(), delay.priority());
        return known(true);
    }
    FLOW_INLINE bool waitFor(Yield yield) {
        if (isCancelled()) [[unlikely]] {
            awaited_ = cancelledCell(nullptr, frame());
        } else if (Loop::current().shouldYield()) {
            Loop::current().makeReady(frame(), yield.priority());
            return known(true);
        }
        return known(false);
    }
    /// Waits for an operation in place. Returns true if the coroutine must suspend, as waitForOperand() does.
    template <bool Propagates, class Op>
    FLOW_INLINE bool waitForOperation(Op& op) {
        if (isCancelled()) [[unlikely]] {
            awaited_ = cancelledCell(nullptr, frame());
            return Propagates;
        }
        if (!parkUnlessReady(op, *frame()))
            return false;
        if constexpr (Propagates)
            propagateFailure();
        return known(true);
    }
    FLOW_INLINE bool waitFor(ChooseBase& choose) {
        if (choose.decided())
            return false;
        choose.park(frame());
        return true;
    }
    /// Waits for `operand`. In a cancelled coroutine, first replaces it by a failed one, which is ready.
    template <bool Propagates = false>
    FLOW_INLINE bool waitFor(Pending& operand) {
        if (isCancelled()) [[unlikely]]
            operand.cancel(frame());
        if (operand.isReady() || operand.start())
            return false;
        if (operand.isDelay()) {
            Loop::current().parkUntil(frame(), operand.asDelay().deadline(), operand.asDelay().priority());
        } else if (operand.isHeld()) {
            operand.held()->park(*frame());
            if constexpr (Propagates)
                propagateFailure();
        } else {
            setOperand(operand.cell());
            parkAt<Propagates>(operand.cell());
        }
        return true;
    }
    /// Returns true if the frame is in some queue; false when it runs, or when its operand was ready.
    bool isParked() const { return link_.isLinked(); }
    /// Returns true if there is a cell to take. After a delay, this is true only if the coroutine was cancelled.
    FLOW_INLINE bool hasAwaited() const { return !awaited_.isNothing() && !awaited_.isReturned(); }
    /// Takes the result of a wait: a ready cell with its reference, or null after a delay that was not cancelled.
    FLOW_INLINE Cell* takeAwaited() {
        Cell* cell = awaited_.cell();
        awaited_ = {};
        return cell;
    }
    /// Returns the operand after the frame was parked. The operand has a value, or has failed.
    FLOW_INLINE Pending settled() { return Pending(takeAwaited()); }
    FLOW_INLINE bool when(ChooseBase& choose, Pending operand) { return choose.when(operand); }
    /// Called before the coroutine fails with the error of `failed`: shares the exception behind this error.
    FLOW_INLINE void share(Pending const& failed) { shareException(cell(), failed.cell()); }
    /// Like takeAwaited(), after a wait with Propagates.
    FLOW_INLINE Cell* takePropagating() {
        Cell* cell = awaited_.anyCell();
        awaited_ = {};
        return cell;
    }
    /// Returns true if the operand of the frame has failed. The frame must not be parked.
    FLOW_INLINE bool hasFailed() const { return hasAwaited() && awaited_.anyCell()->isError(); }
    // At the end of the body `awaited_` says how the body ended. The optimiser can usually prove this value. `cancel()`
    // treats a frame with such a value like a running frame.

    /// Called when the body ends without a value. `awaited` stays empty, as at the end of a body without a co_return.
    FLOW_INLINE void noteReturned() const {
        FLOW_CHECK(awaited_.isNothing(), "a coroutine returns before it has taken what it waited for");
    }
    /// Called at a co_return with a value. The body may go on, if a local's destructor throws and a handler catches it.
    FLOW_INLINE void noteReturnedValue() {
        FLOW_CHECK(!hasAwaited(), "a coroutine returns before it has taken what it waited for");
        awaited_ = Awaited::returned();
    }
    void noteFailed(Error error) {
        endPlace();
        cell()->error = error;
        awaited_ = Awaited::failed();
    }
    template <bool WithValue>
    FLOW_INLINE bool hasReturned() const {
        return WithValue ? awaited_.isReturned() : awaited_.isNothing();
    }
    /// Notes the place of a wait for reports of pending computations.
    FLOW_INLINE void notePlace(std::source_location where) { flow::detail::notePlace(cell(), where); }
    /// Called when control goes back to the caller, or to the code that resumed the coroutine.
    void noteSuspended() const {
#if FLOW_CHECKED
        runningActor = caller_;
#endif
    }

    FLOW_INLINE bool isCancelled() { return cell()->has(Cell::kCancelled); }

protected:
    PromiseBase() {
        link_.next = nullptr; // `prev` needs no value: code sets it before it reads it
        noteRunning(frame());
    }
    ~PromiseBase() = default;

private:
    /// Lets the compiler assume the next result of isParked(): the compiler cannot see that the link is part of the
    /// object that frame() returns. Without known(), a step of the benchmark NET2 takes 4 % more time.
    FLOW_INLINE bool known(bool parked) const {
        if (isParked() != parked)
            __builtin_unreachable();
        return parked;
    }
    /// Makes an error of an operation end the frame. A wait that park() has moved to the loop instead cannot fail.
    FLOW_INLINE void propagateFailure() {
        if (frame()->awaited.isOperation())
            frame()->awaited = frame()->awaited.propagating();
    }
    template <bool Propagates>
    FLOW_INLINE void parkAt(Cell* operand) {
        link_.prev = &operand->waiters;
        parkBehindHead<Propagates>(operand);
    }
    /// The second part of parkAt(): `prev` of the link must be the head of the operand's list already.
    template <bool Propagates>
    FLOW_INLINE void parkBehindHead(Cell* operand) {
        if constexpr (Propagates)
            awaited_ = Awaited::propagating(operand);
        Link& waiters = operand->waiters;
        Link* first = waiters.next;
        link_.next = first;
        waiters.next = first->prev = &frame()->link;
    }

    Link link_; // other code writes it through frame()
    Awaited awaited_;
#if FLOW_CHECKED
    const void* caller_ = runningActor;
#endif
};

/// The PromiseBase of an actor that propagates, for PropagatingSelf (coroutine.h): if the operand of the actor fails,
/// or if the actor is cancelled, the frame is destroyed at its wait.
class PropagatingBase : public PromiseBase {
public:
    FLOW_INLINE bool waitFor(Pending& operand) { return PromiseBase::waitFor<true>(operand); }
    FLOW_INLINE bool waitFor(ChooseBase& choose) { return PromiseBase::waitFor(choose); }
    FLOW_INLINE Pending settled() { return Pending(takePropagating()); }
    FLOW_INLINE bool when(ChooseBase& choose, Pending operand) { return choose.when<true>(operand); }
};

} // namespace flow::coro
