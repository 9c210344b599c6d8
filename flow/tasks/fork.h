#pragma once
// Fork<T>: a coroutine that starts when it is called, as a child of the task, fork or scope with the context.
//
//     Task<int> both(Context, Page a, Page b) {
//         Fork<int> first = count(co_await context(), a);   // runs up to its first wait
//         Fork<int> second = count(co_await context(), b);
//         co_return co_await first + co_await second;
//     }
//
// `co_await fork` gives the result by reference, any number of times, or throws the fork's error. `co_await
// std::move(fork)` moves the result out, and empties the handle. Destroying the handle does not end the child. The
// frame of a child is destroyed when the child ends, the result with the last handle or future. If a child without
// handles fails, its error is reported as a dropped error. At its end a parent waits for its children, without blocking
// the thread. A parent that fails or is cancelled first cancels its children. Parameters of the parent live until the
// children have ended. Local variables of the parent do not: await a child before the variables that it refers to are
// destroyed (destroyForks() waits for all children).
//
// A fork can await everything that a coroutine can await. Actors, fibers and other coroutines can wait for a fork, too,
// or for its future(). A cancel goes down the tree, children first: a child that sleeps or waits resumes immediately,
// with actor_cancelled. A task that waits for its own child resumes when the child has ended.
//
// The body begins immediately, on the caller's stack. If little stack is left, it begins in a turn of the loop or when
// the fork is awaited, so forks may nest deeply. Fork<T, CurrentLoop> always begins in a turn.

#include "flow/tasks/detail/promise.h"

namespace flow {

/// The executor of forks that begin immediately, on the caller's stack.
struct NoopExecutor {
    static constexpr tasks::Start kStart = tasks::Start::Now;
};
/// The executor of forks that begin in a turn of the loop, behind the ready steps.
struct CurrentLoop {
    static constexpr tasks::Start kStart = tasks::Start::InTurn;
};

template <class T = Void, class Executor = NoopExecutor>
class [[nodiscard]] Fork : public tasks::Handle<T> {
public:
    static constexpr tasks::Start kStart = Executor::kStart;

    using tasks::Handle<T>::Handle;
    Fork(Fork&&) noexcept = default;
    Fork& operator=(Fork&& other) noexcept {
        Fork taken(std::move(other));
        this->swap(taken);
        return *this;
    }

    bool isError(detail::Caller caller = detail::Caller::current()) const { return this->checked(caller)->isError(); }
    void cancel() const {
        if (!this->isReady())
            tasks::cancelTree(tasks::Node::of(this->cell_->frame()));
    }
    /// Returns a future of the result, for code outside of tasks and forks. Dropping it does not cancel the fork.
    Future<T> future(detail::Caller caller = detail::Caller::current()) const {
        detail::addFuture(this->checked(caller));
        return Future<T>::adopt(this->cell_);
    }

    /// Called by the promise of the task that awaits the fork.
    detail::Cell* begin(tasks::Node*) const { return this->checked(); }
};

} // namespace flow

template <class T, class Executor, class... Args>
struct std::coroutine_traits<flow::Fork<T, Executor>, Args...> {
    using promise_type =
        flow::tasks::TaskPromise<flow::Fork<T, Executor>, flow::tasks::TaskSignature<Args...>, Executor::kStart>;
};
