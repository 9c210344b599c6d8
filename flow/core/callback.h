#pragma once
// Callback<T> and SingleCallback<T>: objects of the program that are called with a future's or a stream's result.
//
//     struct Print final : Callback<int> {
//         void fire(int const& value) override { std::printf("%d\n", value); delete this; }
//         void fire(int&& value) override { fire(std::as_const(value)); }
//         void error(Error e) override { std::printf("%s\n", e.name()); delete this; }
//     };
//     if (!future.isReady())
//         future.addCallbackAndClear(new Print);
//
// A callback waits for one future or stream at a time, and is called once for each wait. While it waits, it holds a
// reference to the future. The newest waiter is called first. remove() ends the wait and releases the reference. If
// this was the last reference, the future is cancelled. The destructor calls remove(). A callback may wait again or
// delete itself when it is called. fire() and error() must not throw.

#include "flow/core/result.h"
#include "flow/core/stream.h"

namespace flow {

namespace detail {

/// The base class of callbacks. Its Waiter is parked at the future or stream, and calls the callback.
class CallbackBase {
public:
    CallbackBase(CallbackBase const&) = delete;
    CallbackBase& operator=(CallbackBase const&) = delete;

    void remove() { abandon(&waiter_); }

protected:
    CallbackBase(void (*resume)(Waiter*)) : waiter_{resume, {}, {nullptr, nullptr}, {}} { waiter_.owner = this; }
    virtual ~CallbackBase() { remove(); }

    /// Waits for a cell that is not ready. Takes over the caller's reference to the cell.
    void waitFor(Cell* cell) {
        FLOW_ASSERT(!waiter_.link.isLinked(), "a callback is added to a second future while it waits");
        park(&waiter_, cell);
    }
    static Cell* takeAwaited(Waiter* waiter) {
        Cell* cell = waiter->awaited.cell();
        waiter->awaited = {};
        return cell;
    }

private:
    Waiter waiter_;
};

} // namespace detail

template <class T>
class Callback : public detail::CallbackBase {
public:
    Callback() : CallbackBase(call) {}

    /// Called with the value, which the future owns. fire(T&&) is not called.
    virtual void fire(T const&) {}
    virtual void fire(T&&) {}
    virtual void error(Error) {}
    /// Never called. It exists for code that overrides it.
    virtual void unwait() {}

private:
    friend class Future<T>;

    static void call(detail::Waiter* waiter) {
        auto* self = static_cast<Callback*>(static_cast<CallbackBase*>(waiter->owner));
        Future<T> result = Future<T>::adopt(takeAwaited(waiter));
        if (result.isError())
            self->error(result.getError());
        else
            self->fire(result.get());
    }
};

/// An object that is called with the next element of a FutureStream<T>, or with the error that ends the stream.
template <class T>
class SingleCallback : public detail::CallbackBase {
public:
    SingleCallback() : CallbackBase(call) {}

    virtual void fire(T const&) {}
    /// Called with the element. fire(T const&) is not called.
    virtual void fire(T&&) {}
    virtual void error(Error) {}
    /// Never called. It exists for code that overrides it.
    virtual void unwait() {}

private:
    friend class FutureStream<T>;

    static void call(detail::Waiter* waiter) {
        auto* self = static_cast<SingleCallback*>(static_cast<CallbackBase*>(waiter->owner));
        FutureStream<T> stream = FutureStream<T>::adopt(takeAwaited(waiter));
        if (stream.isError())
            self->error(stream.getError());
        else
            self->fire(stream.pop());
    }
};

template <class T>
void Future<T>::addCallbackAndClear(Callback<T>* callback, detail::Caller caller) {
    FLOW_ASSERT_AT(caller, !isReady(caller), "addCallbackAndClear() on a Future that is ready: it would not be called");
    callback->waitFor(std::exchange(cell_, nullptr));
}

template <class T>
void FutureStream<T>::addCallbackAndClear(SingleCallback<T>* callback, detail::Caller caller) {
    FLOW_ASSERT_AT(caller, !isReady(caller),
                   "addCallbackAndClear() on a FutureStream that is ready: it would not be called");
    FLOW_ASSERT_AT(caller, cell_->waiters.isEmpty(), detail::kTwoReaders);
    callback->waitFor(std::exchange(cell_, nullptr));
}

} // namespace flow
