#pragma once
// MemberWait: a data member through which an operation made of operations waits. After the wait, the MemberWait calls a
// function and passes the operation to it.
//
//     struct Doubled : Operation<Doubled, int> {
//         explicit Doubled(Future<int> input) { input.isReady() ? go(input) : step.waitFor(std::move(input)); }
//         void go(Future<int> ready) { ready.isError() ? fail(ready.getError()) : complete(2 * ready.get()); }
//
//         MemberWait step{*this, [](Doubled& self) { self.go(self.step.take<int>()); }};
//     };
//
// A MemberWait waits for one thing at a time. During the call of the function, the MemberWait is free: it may wait
// again, and the function may destroy it. The destructor releases the operand. A MemberWait belongs to one thread.

#include "flow/core/in_place.h"

#include <type_traits>

namespace flow {

class MemberWait {
public:
    /// `go` is a function without captures that takes an Owner&; it must not throw. It returns nothing, or the result
    /// of Operation::completed() or failed(), or null.
    template <class Owner, class Go>
    MemberWait(Owner& owner, Go) {
        waiter_.owner = &owner;
        waiter_.resume = resume<Owner, Go>;
    }
    MemberWait(MemberWait const&) = delete;
    MemberWait& operator=(MemberWait const&) = delete;
    ~MemberWait() {
        if (!waiter_.awaited.isNothing() || isWaiting())
            detail::abandon(&waiter_);
    }

    bool isWaiting() const { return waiter_.link.isLinked(); }
    /// Waits for a future that is not ready, and holds it from here on.
    template <class T>
    void waitFor(Future<T> future) {
        detail::park(&waiter_, std::move(future).release());
    }
    /// Waits for an operation that is not ready. The operation must not move during the wait.
    template <InPlace Op>
    void waitFor(Op& op) {
        waiter_.awaited = {};
        op.park(waiter_);
    }
    /// Stops waiting, but holds the future until cancel() or the destructor.
    void stop() noexcept { detail::detach(&waiter_); }
    /// Stops waiting, and releases the operand.
    void cancel() noexcept { detail::abandon(&waiter_); }

    /// Returns the future for which this MemberWait has waited. To be called exactly once after a wait for a future.
    template <class T>
    Future<T> take() {
        detail::Cell* cell = waiter_.awaited.cell();
        waiter_.awaited = {};
        return Future<T>::adopt(cell);
    }
    /// Returns the error with which the source has failed the operation. To be called after a wait for an operation. If
    /// the error is invalid, the operation is ready, and the owner must call op.take() before anything else runs.
    Error takeFailure() {
        detail::Cell* failed = waiter_.awaited.anyCell();
        waiter_.awaited = {};
        return failed ? detail::takeError(failed) : Error();
    }

private:
    template <class Owner, class Go>
    static void resume(WaiterNode* waiter) {
        auto& owner = *static_cast<Owner*>(waiter->owner);
        if constexpr (std::is_void_v<std::invoke_result_t<Go, Owner&>>)
            Go()(owner);
        else if (WaiterNode* last = Go()(owner))
            FLOW_HAND_OVER(last);
    }

    WaiterNode waiter_{nullptr, {nullptr}, {nullptr, nullptr}, {}};
};

} // namespace flow
