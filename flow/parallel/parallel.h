#pragma once
// Parallel tasks: Fork<T, WorkPool> and Task<T, WorkPool> compute on the threads of a WorkPool.
//
//     Task<long, WorkPool> fib(ParallelContext, int n) {
//         if (n < 2)
//             co_return n;
//         Fork<long, WorkPool> one = fibFork(co_await context(), n - 1);   // on any thread that is free
//         long two = co_await fib(co_await context(), n - 2);              // on this thread
//         co_return co_await one + two;
//     }
//     long result = co_await runOn(co_await context(), pool, [](ParallelContext there) { return fib(there, 30); });
//
// A task of a loop calls runOn() and gets a fork of that loop, as described in flow/tasks/executor.h. The function runs
// on the pool, and returns a parallel task or fork, or a value. Its captures and its result must be usable on another
// thread: no Future, and no other object of a loop.
//
// A Fork begins when a thread of the pool takes it. A Task begins when it is awaited, on the thread that awaits it.
// Only the body that made a child may await it, as in flow/tasks/fork.h. The result is a reference, or is moved out of
// an rvalue. An error is thrown. The body resumes on the thread on which the child ended. A parent ends after its
// children. The parent's parameters exist until its end, but its local variables do not. `co_await destroyForks()`
// waits for all children. `co_await context()` gives the ParallelContext. `co_await after(pool)` resumes as a new item
// of `pool`, perhaps on the same thread. Nothing else can be awaited: a thread of the pool never waits.
//
// A cancel of the fork that runOn() made reaches the whole tree: each later co_await throws actor_cancelled, and a
// child that has not begun fails with actor_cancelled. A long computation without co_await calls context.isCancelled().
// The error of a child reaches only the parent that awaits it. This parent still ends after its other children.
//
// Frames come from the context's memory resource, which must be thread-safe, like fastMemory().

#include "flow/memory/detail/foreign_block.h"
#include "flow/memory/fast_resource.h"
#include "flow/parallel/work_pool.h"
#include "flow/tasks/executor.h"

#include <atomic>
#include <coroutine>
#include <optional>

namespace flow {

namespace parallel {
struct Node;
struct Tree;
} // namespace parallel

/// The place of a child in its tree.
class ParallelContext {
public:
    ParallelContext(parallel::Tree& tree, parallel::Node* parent) : tree_(&tree), parent_(parent) {}

    WorkPool& pool() const;
    std::pmr::memory_resource& memory() const;
    /// True if the tree was cancelled.
    bool isCancelled() const;
    parallel::Tree& tree() const { return *tree_; }
    parallel::Node* parent() const { return parent_; }

private:
    parallel::Tree* tree_;
    parallel::Node* parent_;
};

namespace parallel {

/// The data that all tasks and forks of a tree share.
struct Tree {
    Tree(WorkPool& p, std::pmr::memory_resource& m) : pool(p), memory(m) {}

    WorkPool& pool;
    std::pmr::memory_resource& memory;
    std::atomic<bool> isCancelled{false};

    void throwIfCancelled() const {
        if (isCancelled.load(std::memory_order_relaxed)) [[unlikely]]
            throw actor_cancelled();
    }
};

/// The part of a promise that does not depend on the result type.
struct Node : WorkItem {
    explicit Node(ParallelContext here) : tree(&here.tree()), parent(here.parent()) {
        run = [](WorkItem* item) { static_cast<Node*>(item)->handle.resume(); };
    }
    Node(Node const&) = delete;
    Node& operator=(Node const&) = delete;

    /// Called when the body or a child has ended. Returns the next coroutine to run on this thread.
    std::coroutine_handle<> oneEnded() noexcept {
        Node* node = this;
        while (node->pending.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            if (std::coroutine_handle<> body = std::exchange(node->joiner, nullptr)) {
                node->pending.store(1, std::memory_order_relaxed);
                return body;
            }
            if (std::coroutine_handle<> body = node->complete(node))
                return body;
            if (!node)
                break;
        }
        return std::noop_coroutine();
    }
    /// Like oneEnded(), for a body that has ended. If no child is left, changes `pending` without a read-modify-write.
    std::coroutine_handle<> bodyEnded() noexcept {
        if (pending.load(std::memory_order_acquire) != 1)
            return oneEnded();
        pending.store(0, std::memory_order_relaxed);
        Node* node = this;
        if (std::coroutine_handle<> body = complete(node))
            return body;
        return node ? node->oneEnded() : std::noop_coroutine();
    }

    static constexpr std::uintptr_t kDone = 1;
    static constexpr std::uintptr_t kNoHandle = 2;

    Tree* tree;
    Node* parent; // null for the root
    std::coroutine_handle<> handle;
    std::coroutine_handle<> joiner;        // the body, while it waits in destroyForks()
    std::atomic<std::uint32_t> pending{1}; // counts the body and the children that have not ended
    std::atomic<std::uintptr_t> waiter{0}; // the parent's body while it awaits this Node; or kDone, or kNoHandle
    void (*onRootEnd)(void*, Node*) = nullptr;
    void* root = nullptr;
    Error error;

private:
    /// Called when the body and all children of `node` have ended. Sets `node` to its parent, or to null. Returns the
    /// parent's body if it awaits `node`. Otherwise returns null: the caller must then call oneEnded() for the parent.
    static std::coroutine_handle<> complete(Node*& node) noexcept {
        Node* ended = node;
        node = ended->parent;
        if (!node) {
            ended->onRootEnd(ended->root, ended); // destroys the node
            return nullptr;
        }
        std::uintptr_t found = ended->waiter.exchange(kDone, std::memory_order_acq_rel);
        if (found == kNoHandle) {
            if (ended->error.isValid())
                reportDroppedError(nullptr, ended->error);
            ended->handle.destroy();
            return nullptr;
        }
        if (found == 0)
            return nullptr;
        node->pending.fetch_sub(1, std::memory_order_relaxed); // does not become 0: the parent's body has not ended
        return std::coroutine_handle<>::from_address(reinterpret_cast<void*>(found));
    }
};

struct GoOn {
    WorkPool* pool;
};

template <class T>
struct Outcome {
    std::optional<T> value;
    template <class U = T>
        requires std::is_constructible_v<T, U>
    void return_value(U&& given) {
        value.emplace(std::forward<U>(given));
    }
    template <class U = T>
        requires std::is_constructible_v<T, U const&>
    void return_value(U const& given) { // `co_return {name};`
        value.emplace(given);
    }
    template <class U>
        requires(!std::is_constructible_v<T, U>)
    FLOW_REFUSED(FLOW_NO_VALUE)
    void return_value(U&&) {}
};
template <>
struct Outcome<Void> {
    std::optional<Void> value{Void()};
    void return_void() const noexcept {}
};

template <class T, bool kLazy>
class Promise;

template <class T, bool kMoves, bool kLazy>
struct ChildAwaiter {
    Promise<T, kLazy>* child;
    Node* self;

    bool await_ready() const noexcept { return child->waiter.load(std::memory_order_acquire) == Node::kDone; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> mine) const noexcept {
        auto address = reinterpret_cast<std::uintptr_t>(mine.address());
        if constexpr (kLazy) {
            child->waiter.store(address, std::memory_order_relaxed);
            return child->handle;
        }
        std::uintptr_t expected = 0;
        bool waits = child->waiter.compare_exchange_strong(expected, address, std::memory_order_acq_rel);
        return waits ? std::coroutine_handle<>(std::noop_coroutine()) : mine;
    }
    std::conditional_t<kMoves, T, T const&> await_resume() const {
        self->tree->throwIfCancelled();
        if (child->error.isValid()) [[unlikely]]
            throw child->error;
        if constexpr (kMoves)
            return std::move(*child->value);
        else
            return *child->value;
    }
};

struct JoinAwaiter {
    Node* self;

    bool await_ready() const noexcept { return self->pending.load(std::memory_order_acquire) == 1; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> mine) const noexcept {
        self->joiner = mine;
        return self->oneEnded();
    }
    void await_resume() const { self->tree->throwIfCancelled(); }
};

struct GoOnAwaiter {
    Node* self;
    WorkPool* pool;

    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<>) const noexcept { pool->submit(*self); }
    void await_resume() const { self->tree->throwIfCancelled(); }
};

/// The awaiter at the beginning of a body. The pool starts a fork; a co_await starts a task.
template <bool kLazy>
struct Beginning {
    Node* self;

    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> mine) const noexcept {
        self->handle = mine;
        if constexpr (!kLazy)
            self->tree->pool.submit(*self); // the body may run and end before submit() returns
    }
    void await_resume() const { self->tree->throwIfCancelled(); }
};

struct BodyEnd {
    Node* self;

    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<>) const noexcept { return self->bodyEnded(); }
    void await_resume() const noexcept {}
};

template <class T, bool kLazy>
class [[nodiscard]] Child {
public:
    using Element = T;
    static constexpr bool kIsParallel = true;

    explicit Child(Promise<T, kLazy>* promise) : promise_(promise) {}
    Child(Child&& other) noexcept : promise_(std::exchange(other.promise_, nullptr)) {}
    Child& operator=(Child&& other) noexcept {
        std::swap(promise_, other.promise_);
        return *this;
    }
    ~Child() {
        if (promise_)
            promise_->releaseHandle();
    }

    /// True if the child and all its children have ended.
    bool isReady() const { return promise_->waiter.load(std::memory_order_acquire) == Node::kDone; }
    /// promise() is for the promise of the parent, which awaits this child; release() is for the root.
    Promise<T, kLazy>* promise() const { return promise_; }
    Promise<T, kLazy>* release() && { return std::exchange(promise_, nullptr); }

private:
    Promise<T, kLazy>* promise_;
};

/// Returns the first ParallelContext among the parameters: the object of a lambda may come before it.
template <class First, class... Rest>
ParallelContext contextOf(First const& first, Rest const&... rest) {
    if constexpr (std::is_convertible_v<First, ParallelContext>) {
        return first;
    } else {
        static_assert(sizeof...(Rest) != 0, "the first parameter of a parallel task or fork is its ParallelContext");
        return contextOf(rest...);
    }
}

template <class T, bool kLazy>
class Promise : public Node, public Outcome<T> {
public:
    template <class... Args>
    explicit Promise(Args const&... args) : Node(contextOf(args...)) {
        if (!kLazy) {
            FLOW_ASSERT(parent,
                        "a Fork of a WorkPool has no parent: the root of a tree is a Task, which runOn() makes");
            parent->pending.fetch_add(1, std::memory_order_relaxed);
        }
    }
    // Both operators are always inlined: otherwise gcc 12 without optimisation reports that they do not match.
    template <class... Args>
    FLOW_INLINE static void* operator new(std::size_t bytes, Args const&... args) {
        return memory::ForeignBlock::allocate(contextOf(args...).memory(), bytes, 0, coro::frameAlignment(bytes));
    }
    FLOW_INLINE static void operator delete(void* frame) noexcept { memory::ForeignBlock::of(frame)->release(); }

    auto get_return_object() {
        this->handle = std::coroutine_handle<Promise>::from_promise(*this);
        return Child<T, kLazy>(this);
    }
    Beginning<kLazy> initial_suspend() noexcept { return {this}; }
    BodyEnd final_suspend() noexcept { return {this}; }
    void unhandled_exception() noexcept { this->error = currentError(); }

    template <class H>
        requires std::remove_cvref_t<H>::kIsParallel
    auto await_transform(H&& child) {
        return awaitChild<!std::is_lvalue_reference_v<H>>(child.promise());
    }
    JoinAwaiter await_transform(tasks::JoinForks) { return {this}; }
    GoOnAwaiter await_transform(GoOn to) { return {this, to.pool}; }
    auto await_transform(tasks::GetContext) {
        struct Awaiter : std::suspend_never {
            ParallelContext here;
            ParallelContext await_resume() const noexcept { return here; }
        };
        return Awaiter{{}, ParallelContext(*this->tree, this)};
    }

    /// Called when the handle (the Child) is destroyed. A running child is destroyed at its end.
    void releaseHandle() noexcept {
        bool isOver = kLazy || this->waiter.load(std::memory_order_acquire) == kDone ||
                      this->waiter.exchange(kNoHandle, std::memory_order_acq_rel) == kDone;
        if (isOver)
            this->handle.destroy();
    }

private:
    template <bool kMoves, class U, bool kChildIsLazy>
    ChildAwaiter<U, kMoves, kChildIsLazy> awaitChild(Promise<U, kChildIsLazy>* child) {
        FLOW_ASSERT(child, "the handle has been moved from");
        FLOW_ASSERT(child->parent == this, "a parallel task or fork is awaited by another than its parent");
        if (kChildIsLazy && child->waiter.load(std::memory_order_acquire) != kDone)
            this->pending.fetch_add(1, std::memory_order_relaxed);
        return {child, this};
    }
};

} // namespace parallel

inline WorkPool& ParallelContext::pool() const {
    return tree_->pool;
}
inline std::pmr::memory_resource& ParallelContext::memory() const {
    return tree_->memory;
}
inline bool ParallelContext::isCancelled() const {
    return tree_->isCancelled.load(std::memory_order_relaxed);
}

template <class T>
class [[nodiscard]] Fork<T, WorkPool> : public parallel::Child<T, false> {
public:
    Fork(parallel::Child<T, false>&& child) : parallel::Child<T, false>(std::move(child)) {}
};
template <class T>
class [[nodiscard]] Task<T, WorkPool> : public parallel::Child<T, true> {
public:
    Task(parallel::Child<T, true>&& child) : parallel::Child<T, true>(std::move(child)) {}
};

/// Resumes a parallel task on a thread of `pool`: `co_await after(pool)`.
inline parallel::GoOn after(WorkPool& pool) {
    return {&pool};
}

namespace parallel {

template <class R>
struct ResultOfWork {
    using Type = std::conditional_t<std::is_void_v<R>, Void, R>;
};
template <class R>
    requires requires { R::kIsParallel; }
struct ResultOfWork<R> {
    using Type = typename R::Element;
};

template <class T, class F>
Task<T, WorkPool> runRoot(ParallelContext, F function) {
    ParallelContext here = co_await context();
    using R = std::invoke_result_t<F&, ParallelContext>;
    if constexpr (requires { R::kIsParallel; }) {
        R child = function(here);
        if constexpr (std::is_same_v<T, Void>) {
            co_await child;
        } else {
            T value = co_await std::move(child);
            co_return value;
        }
    } else if constexpr (std::is_void_v<R>) {
        function(here);
    } else {
        T value = function(here);
        co_return value;
    }
}

/// A call of runOn(): runs the tree on the pool, and brings the result back to the loop.
template <class T>
struct Call final : RemoteAnswer<Call<T>, T>, FastAllocated<Call<T>> {
    explicit Call(std::shared_ptr<Tree> t) : tree(std::move(t)) {}

    template <class F>
    static Future<T> begin(std::shared_ptr<Tree> tree, F function) {
        auto call = std::make_unique<Call>(std::move(tree));
        auto task = runRoot<T, F>(ParallelContext(*call->tree, nullptr), std::move(function));
        Promise<T, true>* root = std::move(task).release();
        root->root = call.get();
        root->onRootEnd = [](void* self, Node* ended) { static_cast<Call*>(self)->end(ended); };
        WorkPool& pool = call->tree->pool;
        Future<T> future = call->future();
        call.release();
        pool.submit(*root);
        return future;
    }

private:
    void end(Node* ended) {
        auto* root = static_cast<Promise<T, true>*>(ended);
        if (root->error.isValid())
            this->result.emplace(ErrorOr<T>::failed(root->error));
        else
            this->result.emplace(std::move(*root->value));
        root->handle.destroy();
        this->answer();
    }

    std::shared_ptr<Tree> tree;
};

} // namespace parallel

/// Makes a child of `here` that calls function(ParallelContext) on the pool. The function returns a parallel task or
/// fork, or a value.
template <class F, class R = std::invoke_result_t<F&, ParallelContext>>
auto runOn(Context here, WorkPool& pool, F function, std::pmr::memory_resource& memory = fastMemory())
    -> Fork<typename parallel::ResultOfWork<R>::Type> {
    using T = typename parallel::ResultOfWork<R>::Type;
    std::shared_ptr<parallel::Tree> tree(
        std::allocate_shared<parallel::Tree>(std::pmr::polymorphic_allocator<>(&fastMemory()), pool, memory));
    auto begin = [tree, function = std::move(function)]() mutable {
        return parallel::Call<T>::begin(std::move(tree), std::move(function));
    };
    auto stop = [tree] { tree->isCancelled.store(true, std::memory_order_relaxed); };
    return tasks::standFor<T>(here, std::move(begin), std::move(stop));
}

} // namespace flow

template <class T, class... Args>
struct std::coroutine_traits<flow::Fork<T, flow::WorkPool>, Args...> {
    using promise_type = flow::parallel::Promise<T, false>;
};
template <class T, class... Args>
struct std::coroutine_traits<flow::Task<T, flow::WorkPool>, Args...> {
    using promise_type = flow::parallel::Promise<T, true>;
};
