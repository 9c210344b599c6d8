#pragma once
// Task<T>: a coroutine that starts when it is awaited. start() runs a task as the root of a tree.
//
//     Task<Page> load(Context, Key key);                     // may make forks
//     Task<int> count(Context, Key key) {
//         Page page = co_await load(co_await context(), key);
//         co_return page.words();
//     }
//     Future<int> words = start(count(environment, key));   // from anywhere: actors, coroutines, fibers, main()
//     int now = co_await count(environment, key);           // from a coroutine; in an actor wait(count(...))
//
// Nothing runs before the task is awaited. Then the task becomes a child of the awaiting task or fork, with the rules
// of a Fork (flow/tasks/fork.h). The handle owns the work: dropping a task that has not begun destroys its parameters,
// and dropping a running task cancels it. `co_await task` gives the result by reference; `co_await std::move(task)`, or
// `co_await` of a call, gives the result by value. A coroutine that returns a Future, or an actor, has no children: it
// starts the task as a root, and takes a task that has a name only by std::move().

#include "flow/tasks/fork.h"

namespace flow {

// Defined in flow/tasks/chain.h.
namespace tasks {
enum class Ending : std::uint8_t { Value, Error, Cancel };
template <class F>
struct Then;
template <Ending kEnding, class F>
struct On;
} // namespace tasks
template <class F>
tasks::Then<F> then(F f);
template <class F>
tasks::On<tasks::Ending::Value, F> onValue(F f);
template <class F>
tasks::On<tasks::Ending::Error, F> onError(F f);
template <class F>
tasks::On<tasks::Ending::Cancel, F> onCancel(F f);

template <class T = Void, class Executor = NoopExecutor>
class [[nodiscard]] Task : public tasks::Handle<T> {
public:
    static constexpr tasks::Start kStart = Executor::kStart;

    using tasks::Handle<T>::Handle;
    Task(Task&&) noexcept = default;
    Task& operator=(Task&& other) noexcept {
        Task taken(std::move(other));
        this->swap(taken);
        return *this;
    }
    FLOW_INLINE ~Task() {
        if (cell_ && !cell_->isReady()) [[unlikely]]
            cancelOrForget();
    }

    /// Returns a Context without a parent, with the memory of this task, for tasks that wrap this one.
    Context origin() const { return {tasks::memoryOf<T>(this->checked()), nullptr}; }
    /// Does the same as `task | then(f)`, see flow/tasks/chain.h. onValue(), onError() and onCancel() are alike.
    template <class F>
    auto then(F f) && {
        return std::move(*this) | flow::then(std::move(f));
    }
    template <class F>
    Task<T> onValue(F f) && {
        return std::move(*this) | flow::onValue(std::move(f));
    }
    template <class F>
    Task<T> onError(F f) && {
        return std::move(*this) | flow::onError(std::move(f));
    }
    template <class F>
    Task<T> onCancel(F f) && {
        return std::move(*this) | flow::onCancel(std::move(f));
    }

    /// Like start(). Leaves the handle empty.
    Future<T> future() && { return start(std::move(*this)); }
    /// Makes this task a child of `parent`, which awaits it. Called by the promise of `parent`.
    FLOW_INLINE detail::Cell* begin(tasks::Node* parent) const {
        detail::Cell* cell = this->checked();
        if (!cell->isReady()) {
            auto* node = tasks::Node::of(cell->frame());
            FLOW_ASSERT(node->has(tasks::Node::kUnstarted) && !node->parent, "a Task is awaited twice at a time");
            tasks::adopt(parent, node);
        }
        return cell;
    }
    /// Begins this task as the root of a tree. Called by start().
    detail::Cell* beginRoot() const {
        detail::run(this->checked()->frame());
        return cell_;
    }
    /// Destroys this task and the nodes below it, unless it has ended. Runs only the destructors of the frames.
    void destroy() {
        if (cell_ && !cell_->isReady())
            tasks::destroyTree(tasks::Node::of(cell_->frame()));
    }

private:
    /// Cancels a running task. Destroys a task that never began, and releases the tree's reference to its cell.
    [[gnu::noinline]] void cancelOrForget() noexcept {
        if (!cell_->has(detail::Cell::kHasFrame))
            return;
        auto* node = tasks::Node::of(cell_->frame());
        if (node->has(tasks::Node::kUnstarted))
            tasks::destroyTree(node);
        else
            tasks::cancelTree(node);
    }
    using tasks::Handle<T>::cell_;
};

namespace tasks {

/// The task of start(). While start() awaits it, the frame of start() is destroyed only together with all code that
/// waits for start(), for example when the simulation ends a process. Then only destructors of the task run.
template <class Task>
struct Root {
    using T = typename Task::Element;
    Task task;
    bool isAwaited = false;

    explicit Root(Task&& t) : task(std::move(t)) {}
    Root(Root const&) = delete;
    Root& operator=(Root const&) = delete;
    ~Root() {
        if (isAwaited)
            task.destroy();
    }

    struct Awaiter {
        Root* root;
        coro::PromiseBase* promise;
        Cell* cell;

        bool await_ready() const noexcept { return !promise->waitFor(cell); }
        void await_suspend(std::coroutine_handle<>) const noexcept {
            promise->noteSuspended();
            root->isAwaited = true;
        }
        T await_resume() const {
            root->isAwaited = false;
            Cell* found = promise->takeAwaited();
            if (found->isError())
                coro::throwError(found);
            releaseFuture(found);
            return std::move(valueOf<T>(found));
        }
    };
    template <class Promise>
    Awaiter awaiter(Promise& promise, std::source_location) {
        Cell* cell = task.beginRoot();
        addFuture(cell);
        return {this, &promise, cell};
    }
};

} // namespace tasks

/// Starts the task as the root of a tree, immediately, on the caller's stack. Dropping the future cancels the tree.
template <class T, class Executor>
Future<T> start(Task<T, Executor> task) {
    tasks::Root<Task<T, Executor>> root(std::move(task));
    if constexpr (std::is_same_v<T, Void>)
        co_await root;
    else
        co_return co_await root;
}

} // namespace flow

template <class T, class Executor, class... Args>
struct std::coroutine_traits<flow::Task<T, Executor>, Args...> {
    using promise_type = flow::tasks::TaskPromise<flow::Task<T, Executor>, flow::tasks::TaskSignature<Args...>,
                                                  flow::tasks::Start::Lazy>;
};
