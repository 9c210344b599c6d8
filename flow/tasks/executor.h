#pragma once
// after(): resumes a task in a later turn of its loop. runOn(): runs children on the loops of other threads.
//
//     co_await after(CurrentLoop());                      // in a turn of the loop, behind the ready steps
//     co_await after(Timer(0.5));                         // half a second later
//     Fork<Row> row = runOn(co_await context(), storageLoop,
//                           [key](Context there) { return read(there, key); });   // a Task, on storageLoop's thread
//     use(co_await row);                                  // continues on this loop
//
// A tree of tasks belongs to one loop. runOn() makes a second tree on another loop, with an Environment of that loop,
// and a Fork on this loop that stands for the second tree: a cancel of the fork cancels the tree, and the fork always
// ends after the tree. So the tree may refer to data of the fork's parent, if both never use the same data at the same
// time. The function is moved to the other thread, called and destroyed there. It may also return a plain value.
//
// The result or the error comes back to this loop. Until then this loop does not end for lack of work, and must not be
// destroyed. If the future of start() is cancelled, it is ready immediately, but loop.run() still waits for the end of
// the tree. The other loop must also exist until the tree has ended: otherwise the fork fails with broken_promise.
// flow/parallel/parallel.h runs children on the thread pool.

#include "flow/tasks/stop.h"
#include "flow/threads/on_loop.h"
#include "flow/wait/delay.h"

#include <atomic>
#include <memory>

namespace flow {

/// The executor that resumes a task after `seconds`.
class Timer {
public:
    explicit Timer(Seconds seconds) : seconds_(seconds) {}
    double seconds() const { return seconds_; }

private:
    double seconds_;
};

namespace tasks {

struct StayHere {
    template <class Promise>
    std::suspend_never awaiter(Promise&, std::source_location) const {
        return {};
    }
};
/// Fails to compile, because a task cannot move to another loop.
struct LeaveLoop {
    template <class Promise>
    std::suspend_never awaiter(Promise&, std::source_location) const {
        static_assert(sizeof(Promise) == 0, "a task stays on its loop: what shall run on another one is a child, which "
                                            "runOn(context, loop, f) makes");
        return {};
    }
};

/// Waits for a call on another thread. A cancel asks the call to end early, but does not end this wait.
template <class T>
struct CallElsewhere {
    Future<T> const& call;

    struct Awaiter : InTask {
        Cell* cell;

        bool await_ready() const noexcept { return cell->isReady(); }
        void await_suspend(std::coroutine_handle<>) const noexcept {
            promise->noteSuspended();
            node()->flags |= Node::kAwaitsChild;
            addFuture(cell);
            park(frame(), cell);
        }
        void await_resume() const {
            node()->flags &= ~Node::kAwaitsChild;
            if (Cell* found = promise->takeAwaited())
                releaseFuture(found);
            throwIfCancelled();
        }
    };
    template <class Promise>
    Awaiter awaiter(Promise& promise, std::source_location) const {
        return {{&promise}, call.cell()};
    }
};

/// The fork that stands for a call on another thread: begin() starts the call, stop() asks it to end early.
template <class T, class Begin, class Stop>
Fork<T> standFor(Context, Begin begin, Stop stop, ExplicitVoid = {}) {
    co_await destroyForks(); // throws if the fork is cancelled already
    OnCancelCall<Stop> onCancel(co_await context(), std::move(stop));
    Future<T> call = begin();
    co_await CallElsewhere<T>{call};
    T value = co_await std::move(call);
    co_return value;
}

/// A tree on another loop. Only the thread of that loop uses `running`.
template <class T>
class RemoteTree final : public Posted {
public:
    static std::shared_ptr<RemoteTree> make() {
        return std::allocate_shared<RemoteTree>(std::pmr::polymorphic_allocator<>(&fastMemory()));
    }
    bool isStopped() const { return isStopped_.load(std::memory_order_acquire); }
    /// Asks the tree to end. Called at most once, on the thread of the fork.
    static void stop(std::shared_ptr<RemoteTree> tree, Loop& target) noexcept {
        tree->isStopped_.store(true, std::memory_order_release);
        RemoteTree& posted = *tree;
        posted.self_ = std::move(tree);
        posted.template postTo<&RemoteTree::arrive, &RemoteTree::drop>(target, TaskPriority::DefaultOnMainThread);
    }

    Future<T> running;

private:
    void arrive() noexcept {
        auto self = std::move(self_);
        if (running.isValid())
            running.cancel();
    }
    void drop() noexcept { auto self = std::move(self_); }

    std::atomic<bool> isStopped_{false};
    std::shared_ptr<RemoteTree> self_; // keeps this object alive until the message of stop() has arrived
};

template <class R>
struct RemoteResult {
    using Type = std::conditional_t<std::is_void_v<R>, Void, R>;
};
template <class T, class E>
struct RemoteResult<Task<T, E>> {
    using Type = T;
};

template <class T, class F>
Future<T> runTree(std::shared_ptr<RemoteTree<T>> tree, F make, ExplicitVoid = {}) {
    if (tree->isStopped())
        throw actor_cancelled();
    struct End {
        RemoteTree<T>& tree;
        ~End() { tree.running = Future<T>(); } // runs on the thread of the tree's loop
    } end{*tree};
    tree->running = start(make(Context(Environment())));
    Future<T> running = tree->running;
    T value = co_await std::move(running);
    co_return value;
}

} // namespace tasks

/// Resumes the task on the executor: `co_await after(executor)`.
inline tasks::StayHere after(NoopExecutor) {
    return {};
}
inline Delay after(CurrentLoop) {
    return delay(0);
}
inline Delay after(Timer timer) {
    return delay(timer.seconds());
}
/// `co_await after(loop)` does not compile: see LeaveLoop.
inline tasks::LeaveLoop after(Loop&) {
    return {};
}

/// Makes a child that runs on `target`. The thread of `target` calls make(Context), which returns a Task or a value.
template <class F, class R = std::invoke_result_t<F&, Context>>
auto runOn(Context here, Loop& target, F make) -> Fork<typename tasks::RemoteResult<R>::Type> {
    using T = typename tasks::RemoteResult<R>::Type;
    auto tree = tasks::RemoteTree<T>::make();
    auto begin = [tree, &target, make = std::move(make)]() mutable {
        if constexpr (requires { R::kIsTask; })
            return onLoop(target, [tree, make = std::move(make)]() mutable {
                return tasks::runTree<T, F>(std::move(tree), std::move(make));
            });
        else
            return onLoop(target, [make = std::move(make)]() mutable { return make(Context(Environment())); });
    };
    auto stop = [tree, &target] { tasks::RemoteTree<T>::stop(tree, target); };
    return tasks::standFor<T>(here, std::move(begin), std::move(stop));
}

} // namespace flow
