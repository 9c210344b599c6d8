#pragma once
// TaskPromise: the promise of tasks and forks, which can await everything that a coroutine with a Future can await.
// This file has the allocation, the start and the end of tasks and forks.

#include "flow/base/stack.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/loop.h"
#include "flow/memory/detail/foreign_block.h"
#include "flow/tasks/context.h"

#include <coroutine>
#include <source_location>

namespace flow::tasks {

/// When the body begins. Lazy: when the task is awaited. Now: in the call. InTurn: in a turn of the loop.
enum class Start : std::uint8_t { Lazy, Now, InTurn };

template <class T>
inline constexpr bool kIsContextWith = false;
template <class Shared>
inline constexpr bool kIsContextWith<ContextWith<Shared>> = true;

/// Returns the first parameter that converts to Context: a ContextWith unchanged, any other type as a Context.
template <class First, class... Rest>
FLOW_INLINE auto contextOf(First&& first, Rest&&... rest) {
    if constexpr (kIsContextWith<std::remove_cvref_t<First>>) {
        return first;
    } else if constexpr (std::is_convertible_v<First, Context>) {
        return Context(first);
    } else {
        static_assert(sizeof...(Rest) != 0, "the first parameter of a task or a fork is its Context");
        return contextOf(rest...);
    }
}

/// The part of a context that a promise must store: the address of the shared struct, if there is one.
template <class C>
struct Shares {
    explicit Shares(Context) {}
    static Context at(Context here) { return here; }
};
template <class Shared>
struct Shares<ContextWith<Shared>> {
    explicit Shares(ContextWith<Shared> given) : shared(&*given) {}
    ContextWith<Shared> at(Context here) const { return {here, *shared}; }
    Shared* shared;
};

/// The properties of the parameters. Destroying the frame destroys all parameters, so the promise destroys none.
template <class... Args>
struct TaskSignature : coro::Signature<Args...> {
    static_assert(!coro::Signature<Args...>::kIsPropagate, "a task cannot be Propagate: its children must end first");
    static_assert(!coro::Signature<Args...>::kUncancellable, "a task is cancelled with its parent: Uncancellable is "
                                                             "for coroutines that return a Future");
    static constexpr bool kHasDestructors = coro::Signature<Args...>::kDestroysParameters;
    static constexpr bool kDestroysParameters = false;
    static constexpr bool kUncancellable = true; // only cancelTree() cancels a task
    static constexpr bool kIsTask = true;
    using SharesOfContext = Shares<decltype(contextOf(std::declval<Args&>()...))>;
};

/// hasRoom() is true if another body may begin on this stack. Otherwise the body begins in a turn of the loop.
inline constinit thread_local std::uintptr_t knownRoom = 0;
FLOW_INLINE bool hasRoom() noexcept {
    constexpr std::uintptr_t kNear = 16 << 10; // half of the room that stackIsShort() keeps free
    auto place = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    if (place - knownRoom < 2 * kNear) [[likely]]
        return true;
    if (stackIsShort() && hasLoop())
        return false;
    knownRoom = place - kNear;
    return true;
}

template <class T>
FLOW_INLINE Cell* newTaskCell(std::pmr::memory_resource& memory, std::size_t frameBytes) {
    constexpr std::size_t kHead = kPrefixBytes<T> + sizeof(Cell);
    void* block = memory::ForeignBlock::allocate(memory, kHead + frameBytes, kHead, coro::frameAlignment(frameBytes));
    return placeCell<T>(block, memory::kForeignClass, 2, 1, 0); // two references: the handle's and the tree's
}
template <class T>
FLOW_INLINE std::pmr::memory_resource& memoryOf(Cell* cell) noexcept {
    return memory::ForeignBlock::of(reinterpret_cast<char*>(cell) - kPrefixBytes<T>)->memory();
}
/// Frees the block of a task that has ended, or that never began.
template <class T>
FLOW_INLINE void freeTaskCell(Cell* cell) noexcept {
    if constexpr (!std::is_trivially_destructible_v<T>)
        if (cell->has(Cell::kDestroyValue))
            destroyValue<T>(cell);
    memory::ForeignBlock::of(reinterpret_cast<char*>(cell) - kPrefixBytes<T>)->release();
}
/// Releases the reference of a handle.
template <class T>
FLOW_INLINE void releaseTask(Cell* cell) noexcept {
    checkThread(cell);
    if (--cell->futures == 0 && cell->promises == 0)
        freeTaskCell<T>(cell);
}

/// The common base of Task and Fork handles.
template <class T>
class Handle {
public:
    using Element = T;
    static constexpr bool kIsTask = true;

    /// Takes the caller's reference to the cell.
    explicit Handle(Cell* cell) : cell_(cell) {}
    Handle(Handle&& other) noexcept : cell_(std::exchange(other.cell_, nullptr)) {}
    FLOW_INLINE ~Handle() {
        if (cell_)
            releaseTask<T>(cell_);
    }

    bool isReady(Caller caller = Caller::current()) const { return checked(caller)->isReady(); }
    /// Returns the error of a task or fork that has ended; an invalid Error if it has not failed.
    Error error(Caller caller = Caller::current()) const {
        return checked(caller)->isError() ? Error(cell_->error) : Error();
    }

    Cell* cell() const { return cell_; }

protected:
    void swap(Handle& other) noexcept { std::swap(cell_, other.cell_); }
    Cell* checked(Caller caller = Caller()) const {
        FLOW_ASSERT_AT(caller, cell_, "the handle of a task or fork has been moved from");
        checkThread(cell_, caller);
        return cell_;
    }

    Cell* cell_;
};

/// True if a fork must call the next frame itself. Without tail calls, run() resumes the frame that a suspended frame
/// hands over. But a fork is not inside of run() while the call that made it is on the stack.
FLOW_INLINE bool isInCall(Node const* node) noexcept {
    return !kTailCalls && node->has(Node::kInCall);
}
FLOW_INLINE coro::HandOver handOver(Waiter* next, bool inCall) noexcept {
    if (!inCall || !next) [[likely]]
        return coro::handOver(next);
    run(next);
    return coro::caller();
}

/// The base of awaiters that use the frame and the cell of their coroutine.
struct InTask {
    coro::PromiseBase* promise;
    FLOW_INLINE Waiter* frame() const { return promise->frame(); }
    FLOW_INLINE Node* node() const { return Node::of(frame()); }
    FLOW_INLINE void throwIfCancelled() const {
        if (promise->cell()->has(Cell::kCancelled)) [[unlikely]]
            throw takeError(cancelledCell(nullptr, frame()));
    }
    /// Notes that the coroutine suspends. Returns isInCall(), and resets it.
    FLOW_INLINE bool noteSuspended() const noexcept {
        promise->noteSuspended();
        bool inCall = isInCall(node());
        if (inCall)
            node()->flags &= ~Node::kInCall;
        return inCall;
    }
};

/// The awaiter of a task or fork. With kMoves, the result is moved out of the child.
template <class T, bool kMoves, Start kStart>
struct ChildAwaiter : InTask {
    Cell* child;

    FLOW_INLINE bool await_ready() const noexcept { return child->isReady(); }
    FLOW_INLINE coro::HandOver await_suspend(std::coroutine_handle<>) const noexcept {
        bool inCall = noteSuspended();
        Node* childNode = Node::of(child->frame());
        if (childNode->parent == node()) {
            node()->flags |= Node::kAwaitsChild;
            childNode->flags |= Node::kParentWaits;
        } else {
            addFuture(child);
            park(frame(), child);
        }
        if (!childNode->has(Node::kUnstarted)) [[likely]]
            return coro::caller();
        Waiter* first = child->frame();
        if constexpr (kStart == Start::InTurn) {
            if (!first->link.isLinked())
                Loop::current().makeReady(first, TaskPriority::DefaultYield);
            return coro::caller();
        } else {
            if (first->link.isLinked()) // the child was queued to begin in a turn
                first->link.unlink();
            return handOver(first, inCall);
        }
    }
    FLOW_INLINE std::conditional_t<kMoves, T, T const&> await_resume() const {
        node()->flags &= ~Node::kAwaitsChild;
        if (Cell* found = promise->takeAwaited()) // the child of another parent: this node was parked at its cell
            releaseFuture(found);
        throwIfCancelled();
        if (child->isError()) [[unlikely]] {
            Error error = errorToThrow(child);
            throw error;
        }
        if constexpr (kMoves)
            return std::move(valueOf<T>(child));
        else
            return valueOf<T>(child);
    }
};

/// The awaiter of an rvalue handle: takes the handle from the caller, and moves the result out.
template <class Awaiter, class Child>
struct Owning : Awaiter {
    Child owned;
};

/// An operation in place that waits until a scope has no child. If the waiting task is cancelled, the wait ends
/// immediately. If the scope's parent is cancelled, the wait fails with actor_cancelled after the children have ended.
struct Join {
    using Result = Void;
    static constexpr bool kEndsOnce = true;
    ScopeNode* scope;
    std::source_location caller;

    bool isReady() const { return !scope->hasForks() && scope->pins == 0; }
    void park(Waiter& waiter) const { scope->join(waiter, caller); }
    Void take() const {
        if (scope->endsWithParent())
            throw actor_cancelled();
        if (scope->failure.isValid())
            throwFailure(scope);
        return Void();
    }
};
struct HookAwaiter : InTask {
    Join join;

    bool await_ready() const noexcept {
        return join.isReady() || (promise->cell()->has(Cell::kCancelled) && !join.scope->endsWithParent());
    }
    void await_suspend(std::coroutine_handle<>) const noexcept {
        noteSuspended();
        node()->flags |= Node::kJoinsHook;
        join.park(*frame());
    }
    Void await_resume() const {
        node()->flags &= ~Node::kJoinsHook;
        if (Cell* found = promise->takeAwaited()) // the task is cancelled, or the scope was destroyed
            coro::throwError(found);
        throwIfCancelled();
        return join.take();
    }
};

/// The awaiter of destroyForks().
struct JoinAwaiter : InTask {
    bool await_ready() const noexcept { return !node()->hasForks(); }
    void await_suspend(std::coroutine_handle<>) const noexcept {
        noteSuspended();
        node()->flags |= Node::kJoining;
    }
    void await_resume() const { throwIfCancelled(); }
};

template <class C>
struct ContextAwaiter : std::suspend_never {
    C context;
    C await_resume() const noexcept { return context; }
};

template <Start kStart>
struct Beginning : InTask {
    FLOW_INLINE bool await_ready() const noexcept {
        if constexpr (kStart != Start::Now)
            return false;
        if (!hasRoom())
            return false;
        if (!kTailCalls)
            node()->flags |= Node::kInCall;
        return true;
    }
    FLOW_INLINE void await_suspend(std::coroutine_handle<>) const noexcept {
        promise->noteSuspended();
        if constexpr (kStart != Start::Lazy) {
            node()->flags |= Node::kUnstarted;
            Loop::current().makeReady(frame(), TaskPriority::DefaultYield);
        }
    }
    FLOW_INLINE void await_resume() const {
        // Writes the flag only if it changes: a one-byte write, then a four-byte read, stalls the processor.
        if (kStart != Start::Now || node()->has(Node::kUnstarted))
            node()->flags &= ~Node::kUnstarted;
        if (promise->hasAwaited()) [[unlikely]] // the task was cancelled before it began
            coro::throwError(promise->takeAwaited());
    }
};

/// The awaiter at the end of the body: the children end, then the frame is destroyed, then the future is completed.
struct BodyEnd {
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    FLOW_INLINE coro::HandOver await_suspend(std::coroutine_handle<Promise> handle) const noexcept {
        auto* frame = static_cast<Waiter*>(handle.address());
        Node* node = Node::of(frame);
        bool inCall = isInCall(node);
        bool failed = !handle.promise().template hasReturned<Promise::kReturnsValue>();
        if (failed || !node->isAlone()) [[unlikely]]
            return handOver(endSlowly(frame, failed), inCall);
        Cell* cell = Cell::of(frame);
        Node* parent = node->parent;
        if (node->sibling.isLinked())
            node->sibling.unlink(); // after cutOut(), cancelTree() in a destructor would link the node again
        bool parentWaits = node->has(Node::kParentWaits);
        if constexpr (Promise::kHasDestructors) {
            if (parent)
                ++parent->pins; // the parent ends after this node, even if a destructor cancels the parent
            opaque(frame)->destroy(frame);
            if (parent)
                --parent->pins;
        }
        --cell->futures;
        Waiter* last = finishFrame<typename Promise::Value>(cell, Cell::kValue);
        if (parentWaits) {
            if (last) [[unlikely]]
                run(last);
            return handOver(parent->frame(), inCall);
        }
        if (parent && parent->has(Node::kWatches)) [[unlikely]]
            last = childLeft(parent, last);
        return handOver(last, inCall);
    }
    [[noreturn]] void await_resume() const noexcept { __builtin_unreachable(); }
};

template <class Handle, class S, Start kStart, class T = typename Handle::Element>
class TaskPromise : public coro::CoroPromise<T, S> {
    using Base = coro::CoroPromise<T, S>;

public:
    static constexpr bool kHasDestructors = S::kHasDestructors;

    template <class... Args>
    FLOW_INLINE static void* operator new(std::size_t bytes, Args&&... args) {
        return newTaskCell<T>(contextOf(args...).memory(), bytes)->frame();
    }
    /// Does nothing for a coroutine: the last reference to the cell frees the block. Frees the block of a call that
    /// never became a coroutine, because copying a parameter threw.
    FLOW_INLINE static void operator delete(void* frame) noexcept {
        Cell* cell = Cell::of(static_cast<Waiter*>(frame));
        if (!S::kTakenOverSafely && !cell->has(Cell::kHasFrame))
            freeTaskCell<T>(cell);
    }

    FLOW_INLINE explicit TaskPromise(auto&&... args) : shares_(contextOf(args...)) {
        Waiter* frame = this->frame();
        Cell::of(frame)->flags = Cell::kHasFrame | Cell::kUncancellable;
        Node* node = ::new (static_cast<void*>(Node::of(frame))) Node;
        if constexpr (kStart == Start::Lazy) {
            node->flags = Node::kUnstarted;
        } else {
            Node* parent = contextOf(args...).parent();
            FLOW_ASSERT(parent, "a Fork is made with an Environment: only a task, a fork or a scope can have children");
            adopt(parent, node);
        }
    }

    Handle get_return_object() {
        auto self = std::coroutine_handle<TaskPromise>::from_promise(*this);
        return Handle(static_cast<Cell*>(self.address()) - 1);
    }
    Beginning<kStart> initial_suspend() noexcept { return {{this}}; }
    BodyEnd final_suspend() const noexcept {
        this->noteSuspended();
        return {};
    }

    using Base::await_transform;
    /// Awaits a task or a fork. Empties an rvalue handle, so that its result cannot be taken twice.
    template <class H>
        requires std::remove_cvref_t<H>::kIsTask
    FLOW_INLINE auto await_transform(H&& child, std::source_location where = std::source_location::current()) {
        this->notePlace(where);
        using Child = std::remove_cvref_t<H>;
        constexpr bool kMoves = !std::is_lvalue_reference_v<H>;
        using Awaiter = ChildAwaiter<typename Child::Element, kMoves, Child::kStart>;
        Awaiter awaiter{{this}, child.begin(Node::of(this->frame()))};
        if constexpr (kMoves)
            return Owning<Awaiter, Child>{awaiter, std::move(child)};
        else
            return awaiter;
    }
    auto await_transform(GetContext) {
        Waiter* frame = this->frame();
        auto here = shares_.at(Context(memoryOf<T>(Cell::of(frame)), Node::of(frame)));
        return ContextAwaiter<decltype(here)>{{}, here};
    }
    FLOW_INLINE JoinAwaiter await_transform(JoinForks, std::source_location where = std::source_location::current()) {
        this->notePlace(where);
        return {{this}};
    }
    FLOW_INLINE HookAwaiter await_transform(Join join, std::source_location where = std::source_location::current()) {
        this->notePlace(where);
        return {{this}, join};
    }
    std::suspend_never await_transform(CancelForks) {
        cancelChildren(Node::of(this->frame()));
        return {};
    }
    // Refused operands: the first three would end a task before its children, the last would block a cancel.
    void await_transform(coro::fail) = delete;
    void await_transform(coro::never) = delete;
    template <class U>
    void await_transform(coro::finish<U>) = delete;
    void await_transform(coro::uncancellable) = delete;

private:
    static_assert(sizeof(Base) == sizeof(coro::PromiseBase) && alignof(Node) == alignof(coro::PromiseBase));
    alignas(Node) unsigned char node_[sizeof(Node)]; // at the place that Node::of() computes
    [[no_unique_address]] typename S::SharesOfContext shares_;
};

} // namespace flow::tasks
