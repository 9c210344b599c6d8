#pragma once
// ComposedOperation: the (public) base class of an operation made of operations, in the callback style. It waits for
// one operation after the other, and calls a member function at the end of each. It allocates nothing.
//
//     class Ask : public ComposedOperation {                // sends a question, and reads the answer
//     public:
//         void start(Connection& to, Bytes question, Completion<std::size_t> end) {
//             to_ = &to;
//             end_ = end;
//             waitFor<&Ask::onWritten>(to.write(question));
//         }
//     private:
//         void onWritten(Error error) {
//             if (error.isValid())
//                 return end_(error, 0);
//             waitFor<&Ask::onAnswer>(to_->readSome(answer_));
//         }
//         void onAnswer(Error error, std::size_t bytes) { end_(error, bytes); }
//         Connection* to_;
//         Completion<std::size_t> end_;
//         char answer_[512];
//     };
//
//     class Session { Ask ask_; void onAnswered(Error error, std::size_t bytes); ... };
//     ask_.start(connection, question, Completion<std::size_t>::to<&Session::onAnswered>(*this));
//
// If an operation is part of another operation, the part is a data member of the whole: one object, which must not
// move. A source parks the ComposedOperation itself, in its list of waiters.
//
// The member function is called once for each wait, in its own turn and never inside waitFor(). If the operation
// is ready already, the function is called as after delay(0). It gets an invalid Error and the result (for a Void
// result only the Error), or on failure the error and a Result(). It must not throw. During the call the
// ComposedOperation is free: it may wait again, or be destroyed. The destructor cancels a wait: the operation has then
// taken nothing. A ComposedOperation belongs to one thread.

#include "flow/core/in_place.h"
#include "flow/loop/loop.h"

#include <new>
#include <utility>

namespace flow {

class ComposedOperation : detail::Waiter {
public:
    ComposedOperation() : Waiter{nullptr, {nullptr}, {nullptr, nullptr}, {}} {}
    ComposedOperation(ComposedOperation const&) = delete;
    ComposedOperation& operator=(ComposedOperation const&) = delete;
    ~ComposedOperation() { cancel(); }

    bool isWaiting() const { return link.isLinked(); }
    /// Stops waiting. No member function is called, until waitFor() is called again.
    void cancel() noexcept {
        if (isWaiting())
            detail::abandon(this);
    }

protected:
    /// Waits for `op`, and then calls the member function `goOn`. The ComposedOperation must not be waiting already.
    template <auto goOn, InPlace Op, class = decltype(goOn)> // `class`: see flow/loop/detail/posted.h
    void waitFor(Op const& op) noexcept {
        FLOW_ASSERT(!isWaiting(), "ComposedOperation::waitFor() while it waits already");
        auto* own = ::new (op_) Op(op);
        try {
            if (!own->isReady()) {
                resume = goOnWith<Op, goOn>;
                return own->park(*this);
            }
            resume = goOnIfReady<Op, goOn>;
        } catch (...) {
            ::new (op_) Error(currentError());
            resume = goOnFailed<Op, goOn>;
        }
        TurnBudget::use(8); // the wait takes its own step, so it counts as 8 operations
        Loop::current().makeReady(this, TaskPriority::DefaultDelay);
    }

private:
    template <class Member>
    struct Owner;
    template <class T, class R, class... Arguments>
    struct Owner<R (T::*)(Arguments...)> {
        using Type = T;
    };
    template <class T, class R, class... Arguments>
    struct Owner<R (T::*)(Arguments...) noexcept> {
        using Type = T;
    };

    template <class Op>
    Op& operation() {
        return *std::launder(reinterpret_cast<Op*>(op_));
    }

    /// Called when the source has something for the operation, or has failed the operation.
    template <class Op, auto goOn, class = decltype(goOn)>
    static void goOnWith(Waiter* waiter) {
        using Result = typename Op::Result;
        auto* self = static_cast<ComposedOperation*>(waiter);
        Result result = Result();
        Error error;
        if (detail::Cell* failed = self->awaited.anyCell()) [[unlikely]] {
            self->awaited = {};
            error = detail::takeError(failed);
        } else {
            try {
                result = self->template operation<Op>().take();
            } catch (...) {
                error = currentError();
            }
        }
        self->template call<goOn>(error, std::move(result));
    }

    /// Called in the loop, if the operation was ready in waitFor(). Another waiter may have taken the result meanwhile.
    template <class Op, auto goOn, class = decltype(goOn)>
    static void goOnIfReady(Waiter* waiter) {
        auto* self = static_cast<ComposedOperation*>(waiter);
        Op& op = self->template operation<Op>();
        Error error;
        try {
            if (!op.isReady()) {
                self->resume = goOnWith<Op, goOn>;
                return op.park(*self);
            }
        } catch (...) {
            error = currentError();
        }
        error.isValid() ? self->template call<goOn>(error, typename Op::Result()) : goOnWith<Op, goOn>(waiter);
    }

    /// Called if isReady() or park() has thrown in waitFor().
    template <class Op, auto goOn, class = decltype(goOn)>
    static void goOnFailed(Waiter* waiter) {
        auto* self = static_cast<ComposedOperation*>(waiter);
        self->template call<goOn>(self->template operation<Error>(), typename Op::Result());
    }

    template <auto goOn, class Result, class = decltype(goOn)>
    void call(Error error, Result result) noexcept {
        auto& object = static_cast<typename Owner<decltype(goOn)>::Type&>(*this);
        if constexpr (std::is_same_v<Result, Void>)
            (object.*goOn)(error);
        else
            (object.*goOn)(error, std::move(result));
    }

    alignas(16) unsigned char op_[32];
};

/// A member function and its object. An operation made of operations calls this member function when it ends. A
/// Completion has the size of two pointers, and owns nothing.
template <class... Results>
class Completion {
public:
    template <auto member, class T>
    static Completion to(T& object) {
        Completion completion;
        completion.object_ = &object;
        completion.call_ = [](void* to, Error error, Results... results) {
            (static_cast<T*>(to)->*member)(error, std::move(results)...);
        };
        return completion;
    }

    /// Calls the member function. Must be the last act of the operation, since the function may destroy the operation.
    void operator()(Error error, Results... results) const { call_(object_, error, std::move(results)...); }

private:
    void (*call_)(void*, Error, Results...) = nullptr;
    void* object_ = nullptr;
};

} // namespace flow
