#pragma once
// Operation: a Future<T> with state of one's own in the same block. For what ends once, with a value or an error.
//
//     struct Lookup : Operation<Lookup, Address> {
//         explicit Lookup(std::string name);              // starts; may complete() or fail() at once
//         ~Lookup();                                      // gives up whatever is under way
//     };
//     Future<Address> found = start<Lookup>("example.org");
//
// The destructor is the only way in which a cancel is noticed. Belongs to one thread: the one that made it. What can be
// waited for again and again is an operation in place: flow/core/in_place.h.

#include "flow/core/in_place.h"

#include <cstddef>

namespace flow {

template <class Derived, class T>
class Operation;

namespace detail {

/// The frame of an owning operation; its state follows.
struct alignas(16) OwningFrame : Waiter {
    bool isConstructing;

    void* state() { return this + 1; }
    static OwningFrame* of(void* state) { return static_cast<OwningFrame*>(state) - 1; }
};

} // namespace detail

/// The base class of an owning operation. Its future being dropped or cancelled destroys the state, and the future is
/// cancelled.
template <class Derived, class T>
class Operation {
public:
    using Result = T;
    Operation(Operation const&) = delete;
    Operation& operator=(Operation const&) = delete;

protected:
    Operation() = default;
    ~Operation() = default;

    /// Ends the operation with a value made of the arguments. Outside of the constructor it destroys this object and
    /// then runs those that wait: the last thing that a member function does. In a constructor it may be called once.
    template <class... Args>
    void complete(Args&&... args) {
        detail::Cell* cell = detail::Cell::of(frame());
        if constexpr (detail::kStored<T>) {
            frame()->link.next = nullptr; // making the value may cancel this, which finds it running then
            try {
                detail::constructValue<T>(cell, std::forward<Args>(args)...);
            } catch (...) {
                return end(detail::Cell::kError, currentError());
            }
        }
        end(detail::Cell::kValue, Error());
    }
    /// The same with an error.
    void fail(Error error) { end(detail::Cell::kError, error); }

private:
    using Frame = detail::OwningFrame;
    template <class D, class... Args>
    friend Future<typename D::Result> start(Args&&... args);

    Frame* frame() { return Frame::of(static_cast<Derived*>(this)); }
    static Derived* stateOf(Frame* frame) { return std::launder(static_cast<Derived*>(frame->state())); }

    void end(std::uint8_t status, Error error) {
        Frame* ending = frame();
        detail::Cell* cell = detail::Cell::of(ending);
        cell->error = error;
        if (ending->isConstructing) { // start() does the rest
            cell->setStatus(status);
            return;
        }
        ending->link.next = nullptr; // from here on a cancel finds it running
        if (cell->futures == 0 && status == detail::Cell::kError)
            reportDroppedError(reinterpret_cast<void const*>(ending->resume), error);
        stateOf(ending)->~Derived();
        if (detail::Waiter* last = detail::finishFrame<T>(cell, status))
            detail::run(last);
    }

    static void cancelled(detail::Waiter* waiter) {
        detail::Cell* cell = detail::Cell::of(waiter);
        cell->error = detail::takeError(waiter->awaited.anyCell());
        waiter->awaited = {};
        destroyState(waiter);
        if (detail::Waiter* last = detail::finishFrame<T>(cell, detail::Cell::kError))
            FLOW_HAND_OVER(last);
    }
    static void destroyState(detail::Waiter* waiter) { stateOf(static_cast<Frame*>(waiter))->~Derived(); }
};

/// Makes the operation, whose constructor starts it. Throws std::bad_alloc; an error that the constructor throws is
/// that of the future.
template <class Derived, class... Args>
[[nodiscard]] Future<typename Derived::Result> start(Args&&... args) {
    using T = typename Derived::Result;
    using Frame = detail::OwningFrame;
    static_assert(alignof(Derived) <= 16, "an operation's state is aligned to 16 bytes at most");
    detail::Cell* cell = detail::newCell<T>(sizeof(Frame) + sizeof(Derived), 1, 1, detail::Cell::kHasFrame);
    auto future = Future<T>::adopt(cell);
    auto* frame = ::new (cell->frame()) Frame;
    frame->resume = Operation<Derived, T>::cancelled;
    frame->destroy = Operation<Derived, T>::destroyState;
    frame->link.next = nullptr; // a cancel out of the constructor finds it running
    frame->awaited = {};
    frame->isConstructing = true;
    try {
        ::new (frame->state()) Derived(std::forward<Args>(args)...);
    } catch (...) {
        cell->error = currentError();
        detail::setEnded<T>(cell, detail::Cell::kError);
        cell->promises = 0;
        return future;
    }
    frame->isConstructing = false;
    if (!cell->isReady()) {
        frame->link.reset(); // from here on a cancel finds it parked
        return future;
    }
    std::uint8_t status = cell->isError() ? detail::Cell::kError : detail::Cell::kValue;
    Operation<Derived, T>::stateOf(frame)->~Derived();
    detail::setEnded<T>(cell, status);
    cell->promises = 0;
    return future;
}

} // namespace flow
