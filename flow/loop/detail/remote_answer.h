#pragma once
// RemoteAnswer: the base class of a call that another thread answers. onLoop and fromAwaitable are built on it.
//
//     struct Lookup final : RemoteAnswer<Lookup, Address>, FastAllocated<Lookup> {
//         void runOnThread() {                        // on any thread, once
//             result.emplace(lookUp(name));
//             answer();                               // must be the last statement
//         }
//         std::string name;
//     };
//     auto call = std::make_unique<Lookup>();
//     Future<Address> address = call->future();       // on the loop of the caller
//     startThreadFor(call.release());
//
// The call is made on the loop of the caller. After future() the call owns itself: answer() sends it back to that loop,
// where it gives its result to the future, and is destroyed before the future is ready. If the future is dropped or
// cancelled, the call continues, and answer() destroys it on the answering thread. As long as the future waits for the
// answer, the loop of the caller does not end for lack of work, and must not be destroyed: the future would never be
// ready.

#include "flow/core/error_or.h"
#include "flow/core/operation.h"
#include "flow/loop/detail/posted.h"
#include "flow/loop/loop.h"

#include <atomic>
#include <optional>

namespace flow {

template <class Derived, class T>
class RemoteAnswer : public Posted {
public:
    /// Returns the future of the answer. Must be called once. Throws std::bad_alloc.
    Future<T> future() {
        return future([] {});
    }
    /// Like future(), but calls withdraw() on the loop of the caller if the future is dropped before the answer.
    template <class Withdraw>
    Future<T> future(Withdraw withdraw) {
        return start<Asker<Withdraw>>(*this, std::move(withdraw));
    }

    /// Sends `result` as the answer. Must be called exactly once, on any thread, as the last statement of the call.
    void answer() noexcept {
        if (settled_.exchange(true, std::memory_order_acq_rel))
            delete static_cast<Derived*>(this);
        else
            postTo<&RemoteAnswer::deliver, &RemoteAnswer::discard>(home_, priority_);
    }
    /// Like answer(), but if this thread runs the loop of the caller, the future is ready before answerNow() returns.
    void answerNow() noexcept {
        if (!hasLoop() || &Loop::current() != &home_)
            return answer();
        if (settled_.exchange(true, std::memory_order_acq_rel))
            delete static_cast<Derived*>(this);
        else
            deliver();
    }

    /// Makes the handled exception the answer. Called in a catch block, before answer().
    [[gnu::cold]] void failWithCaught() {
        result.emplace(ErrorOr<T>::failed(currentError()));
        if (detail::mayHaveException(result->getError()))
            exception_ = std::current_exception();
    }

    /// The answer, a value or an error. Must be set before answer().
    std::optional<ErrorOr<T>> result;

protected:
    explicit RemoteAnswer(TaskPriority priority = TaskPriority::DefaultOnMainThread)
        : home_(Loop::current()), priority_(priority) {}
    ~RemoteAnswer() = default;

    TaskPriority priority() const { return priority_; }

    std::exception_ptr exception_; // the exception behind the error, if it is not an Error

private:
    /// The future's side of the call. If the future is dropped before answer(), answer() destroys the call; if it is
    /// dropped later, the call destroys itself when it arrives at the loop.
    struct AskerBase {
        virtual void bring() noexcept = 0;

        RemoteAnswer* call; // null if the call was destroyed with the loop
        WorkGuard guard;

    protected:
        explicit AskerBase(RemoteAnswer& c) : call(&c), guard(c.home_) { c.asker_ = this; }
        ~AskerBase() = default;
    };
    template <class Withdraw>
    struct Asker final : AskerBase, Operation<Asker<Withdraw>, T> {
        Asker(RemoteAnswer& c, Withdraw&& w) : AskerBase(c), withdraw(std::move(w)) {}
        ~Asker() {
            RemoteAnswer* given = this->call;
            if (!given)
                return;
            if (given->isBack_) {
                delete static_cast<Derived*>(given);
                return;
            }
            Loop& home = given->home_;
            given->asker_ = nullptr;
            if (given->settled_.exchange(true, std::memory_order_acq_rel))
                home.expectPost(); // the answer was posted, and has not arrived
            else
                withdraw();
        }
        void bring() noexcept override {
            Loop::current().noteAnswer(this->firstAwaiter());
            ErrorOr<T>& found = *this->call->result;
            if (found.isError())
                this->fail(found.getError(), std::move(this->call->exception_));
            else
                this->complete(std::move(found).get());
        }

        Withdraw withdraw;
    };

    void deliver() noexcept {
        if (!asker_)
            return discard();
        isBack_ = true;
        asker_->bring();
    }
    void discard() noexcept {
        if (asker_)
            asker_->call = nullptr;
        else
            home_.postCame();
        delete static_cast<Derived*>(this);
    }

    Loop& home_;
    AskerBase* asker_ = nullptr; // null if the future was dropped; used only on the thread of the caller
    std::atomic<bool> settled_{false};
    bool isBack_ = false;
    TaskPriority priority_;
};

} // namespace flow
