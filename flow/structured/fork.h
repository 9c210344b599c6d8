#pragma once
// Fork<T>: a coroutine that starts when it is called, as a child of the task, fork or scope of which it got the
// context, and which never outlives it.
//
//     Task<int> both(Context, Page a, Page b) {
//         Fork<int> first = count(co_await context(), a);   // runs up to its first wait
//         Fork<int> second = count(co_await context(), b);
//         co_return co_await first + co_await second;
//     }
//
// `co_await fork` gives the result by reference, any number of times, and throws the fork's error;
// `co_await std::move(fork)` moves it out, and the handle is empty from then on. A Fork is a handle: dropping it leaves
// the child running. The child's frame is gone when it ends, its result when the last handle goes; one that fails while
// there is no handle is reported as a dropped error. A parent that ends waits for its children first, without blocking
// the thread; if it fails or is cancelled they are cancelled before. Parameters of the parent live until then. Its
// local variables do not: what a child refers to must be awaited before they go (destroyForks() waits for all).
//
// Everything that can be awaited in a coroutine can be awaited in a fork. Actors, fibers and other coroutines wait for
// the fork's future(). Cancelling goes down the tree, children first; a child that sleeps or waits goes on at once with
// actor_cancelled. A task that waits for its own child goes on when that has ended.
//
// The body begins inline, on the caller's stack; where that is short, in a turn of the loop, or when it is awaited, so
// that forks may nest as deep as memory allows. Fork<T, CurrentLoop> always begins in a turn of the loop.

#include "flow/structured/promise.h"

namespace flow {

/// Begins at once, on the caller's stack.
struct NoopExecutor {
    static constexpr structured::Start kStart = structured::Start::Now;
};
/// Begins in a turn of the loop, behind what is ready.
struct CurrentLoop {
    static constexpr structured::Start kStart = structured::Start::InTurn;
};

template <class T = Void, class Executor = NoopExecutor>
class [[nodiscard]] Fork : public structured::Handle<T> {
public:
    static constexpr structured::Start kStart = Executor::kStart;

    using structured::Handle<T>::Handle;
    Fork(Fork&&) noexcept = default;
    Fork& operator=(Fork&& other) noexcept {
        Fork taken(std::move(other));
        this->swap(taken);
        return *this;
    }

    bool isError(detail::Caller caller = detail::Caller::current()) const { return this->checked(caller)->isError(); }
    /// Cancels it, and all below it.
    void cancel() const {
        if (!this->isReady())
            structured::cancelTree(structured::Node::of(this->cell_->frame()));
    }
    /// For code that is no task: its value, or its error. Dropping it does not cancel the fork.
    Future<T> future(detail::Caller caller = detail::Caller::current()) const {
        detail::addFuture(this->checked(caller));
        return Future<T>::adopt(this->cell_);
    }

    /// For the promise.
    detail::Cell* begin(structured::Node*) const { return this->checked(); }
};

} // namespace flow

template <class T, class Executor, class... Args>
struct std::coroutine_traits<flow::Fork<T, Executor>, Args...> {
    using promise_type = flow::structured::TaskPromise<flow::Fork<T, Executor>,
                                                       flow::structured::TaskSignature<Args...>, Executor::kStart>;
};
