#pragma once
// A Waiter without an actor or a coroutine: runs a function when it is woken.
//
//     TestWaiter waiter([&](Cell* cell) { seen = cell->isError(); });
//     waiter.wait(future);
//
// The reference to the cell is released after the function has returned. Destroying a parked one takes it out.

#include "flow/core/cell.h"

#include <functional>

namespace flow::test {

class TestWaiter : public flow::detail::Waiter {
public:
    using Body = std::function<void(flow::detail::Cell*)>;

    explicit TestWaiter(Body body = {}) : flow::detail::Waiter{wake, {nullptr}, {}, {}}, body_(std::move(body)) {}
    TestWaiter(TestWaiter const&) = delete;
    ~TestWaiter() { flow::detail::abandon(this); }

    /// For a Future or FutureStream that is not ready.
    template <class Awaited>
    void wait(Awaited const& future) {
        flow::detail::addFuture(future.cell());
        flow::detail::park(this, future.cell());
    }
    int woken() const { return woken_; }

private:
    static void wake(flow::detail::Waiter* waiter) {
        auto* self = static_cast<TestWaiter*>(waiter);
        flow::detail::Cell* cell = waiter->awaited.cell();
        waiter->awaited = {};
        ++self->woken_;
        if (self->body_)
            self->body_(cell);
        flow::detail::releaseFuture(cell);
    }

    Body body_;
    int woken_ = 0;
};

} // namespace flow::test
