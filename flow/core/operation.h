#pragma once
// Operation: a Future<T> with your own state in the same block. For work that ends once, with a value or an error.
//
//     struct Lookup : Operation<Lookup, Address> {
//         explicit Lookup(std::string name);              // starts; may complete() or fail() at once
//         ~Lookup();                                      // cancels the work under way
//     };
//     Future<Address> found = start<Lookup>("example.org");
//
// A cancel calls the destructor, and nothing else. An Operation belongs to the thread that made it. For an event that
// can be waited for again and again, write an operation in place: flow/core/in_place.h.

#include "flow/core/description.h"
#include "flow/core/in_place.h"

#include <cstddef>

namespace flow {

template <class Derived, class T>
class Operation;

namespace detail {

/// The frame of an owning operation. The object of the class Derived follows in memory.
struct alignas(16) OwningFrame : Waiter {
    bool isConstructing;

    void* state() { return this + 1; }
    static OwningFrame* of(void* state) { return static_cast<OwningFrame*>(state) - 1; }
};

} // namespace detail

/// The base class of an owning operation. A dropped or cancelled future destroys it, and fails with actor_cancelled.
template <class Derived, class T>
class Operation {
public:
    using Result = T;
    /// Returns the operation behind a future that start<Derived>() has made; null if the operation has ended.
    static Derived* of(Future<T> const& future) {
        detail::Cell* cell = future.cell();
        return cell->has(detail::Cell::kHasFrame) ? stateOf(static_cast<Frame*>(cell->frame())) : nullptr;
    }

    Operation(Operation const&) = delete;
    Operation& operator=(Operation const&) = delete;

protected:
    Operation() = default;
    ~Operation() = default;

    /// Ends the operation with a value made of the arguments. A constructor may call complete() once. Elsewhere
    /// complete() destroys this object and then runs the waiters, so it must be the last act of a member function.
    template <class... Args>
    void complete(Args&&... args) {
        if (WaiterNode* last = completed(std::forward<Args>(args)...))
            detail::run(last);
    }
    void fail(Error error) {
        if (WaiterNode* last = failed(error))
            detail::run(last);
    }

    /// Like fail(), with the exception behind the error: an exception that is not an Error, or null.
    void fail(Error error, std::exception_ptr exception) {
        if (exception)
            detail::keepException(detail::Cell::of(frame()), error, std::move(exception));
        fail(error);
    }

    /// Like complete() and fail(), but return the last waiter instead of running it. onTurn() and the function of a
    /// MemberWait return it to their caller, which runs it: thus a chain of any length needs constant stack.
    template <class... Args>
    [[nodiscard]] WaiterNode* completed(Args&&... args) {
        detail::Cell* cell = detail::Cell::of(frame());
        if constexpr (detail::kStored<T>) {
            leaveQueue(); // making the value may cancel this operation: then the cancel does nothing
            try {
                detail::constructValue<T>(cell, std::forward<Args>(args)...);
            } catch (...) {
                return end(detail::Cell::kError, detail::keepCaught(cell));
            }
        }
        return end(detail::Cell::kValue, Error());
    }
    [[nodiscard]] WaiterNode* failed(Error error) {
        return end(detail::Cell::kError, detail::failureOf(detail::Cell::of(frame()), error));
    }

    /// Returns the node to put once into a loop's queue: `Loop::current().makeReady(turn(), priority)`. The loop then
    /// calls `WaiterNode* onTurn()`, which ends the operation. If the operation has ended before, there is no call.
    WaiterNode* turn() {
        leaveQueue();
        return frame();
    }

    /// Takes the node out of the queue. A cancel then does nothing, so the caller must end the operation afterwards.
    void leaveQueue() {
        if (frame()->link.isLinked())
            frame()->link.unlink();
    }

    /// Returns the waiter that complete() or fail() runs first; null if nothing waits for the future.
    WaiterNode* firstAwaiter() {
        detail::Link& waiters = detail::Cell::of(frame())->waiters;
        return waiters.isEmpty() ? nullptr : detail::Waiter::of(waiters.next);
    }

private:
    using Frame = detail::OwningFrame;
    template <class D, class... Args>
    friend Future<typename D::Result> start(Args&&... args);

    Frame* frame() { return Frame::of(static_cast<Derived*>(this)); }
    static Derived* stateOf(Frame* frame) { return std::launder(static_cast<Derived*>(frame->state())); }

    detail::Waiter* end(std::uint8_t status, Error error) {
        Frame* ending = frame();
        detail::Cell* cell = detail::Cell::of(ending);
        cell->error = error;
        if (ending->isConstructing) { // start() does the rest
            cell->setStatus(status);
            return nullptr;
        }
        leaveQueue();
        if (status == detail::Cell::kError)
            status = detail::statusOfError(cell);
        stateOf(ending)->~Derived();
        return detail::finishFrame<T>(cell, status);
    }

    /// Called for a cancel, and for the operation's turn.
    static void resumed(detail::Waiter* waiter) {
        if constexpr (Describes<Derived>)
            static_assert(detail::kEmitted<&Operation::describeOp>);
        detail::Waiter* last = nullptr;
        if (detail::Cell* cancel = waiter->awaited.anyCell()) {
            detail::Cell* cell = detail::Cell::of(waiter);
            waiter->awaited = {};
            cell->error = detail::takeErrorFor(cell, cancel);
            destroyState(waiter);
            last = detail::finishFrame<T>(cell, detail::Cell::kError);
        } else if constexpr (requires(Derived& derived) { derived.onTurn(); }) {
            last = stateOf(static_cast<Frame*>(waiter))->onTurn();
        }
        if (last)
            FLOW_HAND_OVER(last);
    }
    [[gnu::used]] static void describeOp([[maybe_unused]] void const* state, [[maybe_unused]] Description& out) {
        if constexpr (Describes<Derived>)
            static_cast<Derived const*>(state)->describe(out);
    }
    static void destroyState(detail::Waiter* waiter) { stateOf(static_cast<Frame*>(waiter))->~Derived(); }
};

/// Makes the operation; its constructor starts it. If the constructor throws, the future fails. Throws std::bad_alloc.
template <class Derived, class... Args>
[[nodiscard]] Future<typename Derived::Result> start(Args&&... args) {
    using T = typename Derived::Result;
    using Frame = detail::OwningFrame;
    static_assert(alignof(Derived) <= 16, "an operation's state is aligned to 16 bytes at most");
    detail::Cell* cell = detail::newCell<T>(sizeof(Frame) + sizeof(Derived), 1, 1, detail::Cell::kHasFrame);
    auto future = Future<T>::adopt(cell);
    auto* frame = ::new (cell->frame()) Frame;
    frame->resume = Operation<Derived, T>::resumed;
    frame->destroy = Operation<Derived, T>::destroyState;
    frame->link.next = nullptr; // a cancel during the constructor only marks the frame
    frame->awaited = {};
    frame->isConstructing = true;
    try {
        ::new (frame->state()) Derived(std::forward<Args>(args)...);
    } catch (...) {
        cell->error = detail::keepCaught(cell);
        detail::setEnded<T>(cell, detail::Cell::kError);
        cell->promises = 0;
        return future;
    }
    frame->isConstructing = false;
    if (!cell->isReady()) {
        frame->link.reset(); // from here on a cancel ends the operation
        return future;
    }
    std::uint8_t status = cell->isError() ? detail::Cell::kError : detail::Cell::kValue;
    Operation<Derived, T>::stateOf(frame)->~Derived();
    detail::setEnded<T>(cell, status);
    cell->promises = 0;
    return future;
}

} // namespace flow
