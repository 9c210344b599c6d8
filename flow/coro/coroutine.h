#pragma once
// Coroutines: a function that returns Future<T> and uses co_await or co_return is an actor.
//
//     Future<int> add(Future<int> a, FutureStream<int> more) {
//         int sum = co_await a;                // throws the error or exception of a failed future
//         sum += co_await more;                // the next element
//         co_await delay(0.5);                 // allocates only a timer of 16 bytes
//         co_return sum;
//     }
//
// The coroutine starts immediately, on the caller's stack. It does not suspend at a co_await with a ready operand. When
// its last Future is dropped, the coroutine is cancelled: the present co_await and every later one throw
// actor_cancelled. Parameters and frame are destroyed before the future completes. A call throws only std::bad_alloc
// and exceptions from the copy of a parameter. Parameters may be aligned to 16 bytes, others do not compile. Locals may
// be aligned to 64 bytes (gcc ignores `alignas` on a variable, but not on a type: flow/docs/coroutines.md); hold other
// objects by pointer. Reference parameters stay references: take an object that must live across a co_await by value.
//
// gcc 12 translates some coroutines wrongly, with any library; flow/docs/coroutines.md lists them. Give each co_await
// its own statement: `int first = co_await a;`.
//
// The coroutine's frame is also the waiter (see flow/core/frame.h). A call makes one allocation, for result and frame.

#include "flow/base/inline.h"
#include "flow/core/error_or.h"
#include "flow/core/frame_size.h"
#include "flow/coro/detail/awaiters.h"
#include "flow/coro/detail/parameters.h"
#include "flow/emitted/argument.h"
#include "flow/emitted/frame_fit.h"
#include "flow/emitted/result_in.h"

#include <coroutine>

namespace flow {

/// A parameter of this type, by convention the first, makes a coroutine run on when its last Future is dropped.
///
///     Future<Void> writeBack(Uncancellable, Page page);
///     (void)writeBack(Uncancellable(), page);
struct Uncancellable {};

/// A parameter of this type, best the last one with a default, makes a coroutine propagate errors. If a co_await fails
/// or is cancelled, the coroutine ends with this error without a C++ exception, which is a hundred times faster.
///
///     Future<int> twice(Future<int> a, Propagate = {}) { co_return 2 * co_await a; }
///
/// First locals, then parameters are destroyed, as by an exception. No catch in this coroutine gets the error of a
/// co_await: do not use Propagate if a co_await is in a try block. tryGet() gives errors and cancels as usual.
struct Propagate {};

/// A parameter of this type makes a cancel destroy the coroutine's frame at its wait: no C++ exception, no handler. An
/// error is thrown as usual.
///
///     Future<Void> guarded(Future<Void> step, NoThrowOnCancel) { try { co_await step; } catch (Error& e) { log(e); } }
struct NoThrowOnCancel {};

/// A coroutine with a result of Future<Void> ends by `co_return`, and its co_await of a Future<Void> gives nothing, so
/// that it may say `co_return co_await f;`. With a parameter of this type the co_await gives a Void, and the coroutine
/// ends by `co_return Void()`. The parameter is for templates with a T that may be Void:
///
///     template <class T>
///     Future<T> logged(Future<T> what, ExplicitVoid = {}) { T value = co_await what; log(value); co_return value; }
struct ExplicitVoid {
    operator Void() const { return {}; }
};

/// co_await tryGet(f) gives an ErrorOr<T> and never throws.
template <class T, bool Keeps = false>
struct [[nodiscard]] TryGet {
    Future<T> future;
};
template <class T>
TryGet<T> tryGet(Future<T> future) {
    return {std::move(future)};
}
template <InPlace Op>
TryGet<typename Op::Result> tryGet(Op const& op) {
    return {keep(op)};
}

} // namespace flow

namespace flow::coro {

/// The operand of a co_await that ends the coroutine with an error, without a throw. Destroys locals innermost first.
struct [[nodiscard]] fail {
    explicit fail(Error e) : error(e) {}
    Error error;
};
/// The same with the error of a wait. share() has added this coroutine to the error's chain of awaiters already.
struct [[nodiscard]] passOn {
    explicit passOn(Pending const& failed) : error(failed.takeError()) {}
    Error error;
};
/// The operand of a co_await that ends the coroutine with a value, for code with a result type that may be Void.
template <class U>
struct [[nodiscard]] finish {
    explicit finish(U&& v) : value(v) {}
    U& value;
};
template <class U>
finish(U&&) -> finish<U>;
/// The operand of a co_await that ends the coroutine, and leaves the result forever unset.
struct [[nodiscard]] never {};
/// The operand of a co_await after which the coroutine runs on when its last Future is dropped. Does not suspend.
struct [[nodiscard]] uncancellable {};
/// co_await outcome(f) gives an ErrorOr<T>, as co_await tryGet(f) does. But a cancel of the coroutine is not a result:
/// it is thrown, or ends the frame, as at each other wait.
template <class T>
struct [[nodiscard]] Outcome {
    Future<T> future;
};
template <class T>
Outcome<T> outcome(Future<T> future) {
    return {std::move(future)};
}
/// Like tryGet(). If the coroutine then ends with the error by fail(), its future also gets the exception behind it.
template <class T>
TryGet<T, true> tryKeeping(Future<T> future) {
    return {std::move(future)};
}
/// The operand of a co_await that gives the coroutine's own cell. The cell keeps the exception behind the error that
/// tryKeeping() gave last: see flow/core/detail/kept_exception.h. Does not suspend.
struct [[nodiscard]] ownCell {};
/// The operand of a co_await in a frame that is parked already: see Self.
struct [[nodiscard]] parked {};

/// Makes the result of an actor from the operand of its `return`, where `co_return` cannot be used: the actor has no
/// result, or only an instantiation shows if it has one. A future as the operand is refused, not awaited. from() is not
/// static: gcc reports the call of a refused function twice, unless the function is a member of an object.
template <class T>
struct Result {
    template <class U = T, class = T>
        requires std::is_constructible_v<T, U>
    T from(U&& value) {
        return T(std::forward<U>(value));
    }
    T from(T const& value) // for `return {name};`
        requires std::is_copy_constructible_v<T>
    {
        return T(value);
    }
    template <class Given = flow::detail::AnyList, class Wanted = T>
    FLOW_REFUSED(FLOW_NO_VALUE)
    T from(Given&&) {
        __builtin_unreachable();
    }
};

/// A pointer to the coroutine's own promise, in a variable. A co_await of the variable sets the pointer, and does not
/// suspend. The class is for code that actorc emits: such code parks the frame itself:
///
///     Self actor;
///     co_await actor;
///     Pending wait = operand<1, int>(room).wait(future);       // flow/wait/operation_room.h
///     if (actor->waitFor(wait)) {
///         co_await parked();
///         wait = actor->settled();
///     }
///
/// co_await does not return the pointer: gcc 12 would keep this result in the frame a second time.
template <class Base>
class OwnPromise {
public:
    FLOW_INLINE Base* operator->() const { return promise_; }
    FLOW_INLINE void set(PromiseBase* promise) { promise_ = static_cast<Base*>(promise); }

private:
    Base* promise_ = nullptr;
};
using Self = OwnPromise<PromiseBase>;
/// The Self of a body in which no handler gets the error of a wait.
using PropagatingSelf = OwnPromise<PropagatingBase>;

// pending() is flow::pending() for coroutines. For forget(), see OperationRoom::forget() in flow/wait/operation_room.h.

template <class Operand>
FLOW_INLINE void forget(Operand const& operand) {
    asm("" : "+m"(const_cast<Operand&>(operand)));
}
template <class T, class Operand>
FLOW_INLINE Pending pending(Operand&& operand, std::source_location where) {
    Pending wait = flow::pending<T>(std::forward<Operand>(operand), where);
    if constexpr (std::is_lvalue_reference_v<Operand>)
        forget(operand);
    return wait;
}

/// The properties that follow from a coroutine's parameter types. The first type may be that of the object or lambda.
template <class... Args>
struct Signature {
    static_assert(FitsFrame<Args...>, "a coroutine's parameters are aligned to 16 bytes at most");
    static constexpr bool kDestroysParameters = (!std::is_trivially_destructible_v<Args> || ...);
    static constexpr bool kTakenOverSafely = (coro::kTakenOverSafely<Args> && ...);
    using Owned = Parameters<Args...>;
    static constexpr bool kUncancellable = (std::is_same_v<Args, Uncancellable> || ...);
    static constexpr bool kIsPropagate = (std::is_same_v<Args, Propagate> || ...);
    /// False in spite of Propagate if parameters would be destroyed in the wrong order: then an error is thrown.
    static constexpr bool kPropagates = kIsPropagate && (kDestroysInOrder || Owned::kCanEmpty);
    static constexpr bool kEndsOnCancel =
        kPropagates || ((std::is_same_v<Args, NoThrowOnCancel> || ...) && (kDestroysInOrder || Owned::kCanEmpty));
    static constexpr bool kExplicitVoid = (std::is_same_v<Args, ExplicitVoid> || ...);
    static constexpr bool kIsTask = false;
    static constexpr std::size_t kFrameLimit = (std::size_t{0} + ... + flow::detail::kFrameLimit<Args>); // 0: none
};

/// A promise that is no template, since gcc 12 does not instantiate return_void for coroutines in a local class.
class VoidPromiseBase : public PromiseBase {
public:
    FLOW_INLINE void return_void() const noexcept { noteReturned(); }
};
class ExplicitVoidPromiseBase : public PromiseBase {
public:
    FLOW_INLINE void return_value(Void) const noexcept { noteReturned(); }
};

/// An operand that co_await refuses. The operand converts to this class; the compiler chooses the conversion only if no
/// other await_transform fits. The result of the co_await converts to any type, so compilers report no further error.
struct NotAwaitable : std::suspend_never {
    template <class A, class Plain = std::remove_cvref_t<A>>
        requires(!std::is_same_v<Plain, NotAwaitable>)
    NotAwaitable(A&&) {
        constexpr bool kIsPromise = flow::detail::isPromise<Plain>;
        constexpr bool kIsTask = requires { requires Plain::kIsTask; };
        constexpr bool kIsFunction = std::is_invocable_v<Plain&>;
        static_assert(!kIsPromise, "co_await takes a Future: write co_await p.getFuture()");
        static_assert(!kIsTask, "a coroutine starts a task: write co_await std::move(task), or start(std::move(task))");
        static_assert(!kIsFunction, "co_await takes the result of a function: write co_await f()");
        static_assert(
            kIsPromise || kIsTask || kIsFunction,
            "co_await takes a Future, a FutureStream, a delay, an operation, a race, a task or a fork; give an "
            "awaitable of another library to fromAwaitable()");
    }
    struct Anything {
        template <class T>
        operator T() const;
    };
    Anything await_resume() const;
};

/// The part of the promise that does not depend on how a value is returned.
template <class T, class S>
class CoroPromiseBase
    : public std::conditional_t<!std::is_same_v<T, Void>, PromiseBase,
                                std::conditional_t<S::kExplicitVoid, ExplicitVoidPromiseBase, VoidPromiseBase>>,
      ResultBytes<kPrefixBytes<T>> {
    /// The base of awaiters to which an error comes back.
    using Catching = std::conditional_t<S::kEndsOnCancel, CancelAwaiter, Awaiter>;
    using Base = std::conditional_t<S::kPropagates, PropagatingAwaiter, Catching>;
    template <class U, bool Keeps>
    using Trying = TryAwaiter<U, std::conditional_t<S::kPropagates, Awaiter, Catching>, S::kPropagates, Keeps>;
    /// The awaiter A for a result U. If the coroutine ends by `co_return;`, co_await gives no Void, so that
    /// `co_return co_await f;` compiles.
    template <class U, class A>
    using Giving =
        std::conditional_t<std::is_same_v<U, Void> && std::is_same_v<T, Void> && !S::kExplicitVoid, WithoutVoid<A>, A>;
    /// True if the promise destroys the parameters itself, by pointers, because `destroy` has the wrong order.
    static constexpr bool kOwnsParameters = S::kDestroysParameters && !kDestroysInOrder;
    static constexpr std::uint8_t kFlags =
        Cell::kHasFrame | (S::kUncancellable ? Cell::kUncancellable : 0) | (S::kEndsOnCancel ? Cell::kPropagates : 0);
    /// The flags until the body begins. If moving a parameter may throw, 0 marks a call that is not yet a coroutine.
    static constexpr std::uint8_t kFirstFlags = S::kTakenOverSafely ? kFlags : 0;

public:
    using Value = T;
    static constexpr bool kPropagates = S::kPropagates;
    static constexpr bool kEndsOnCancel = S::kEndsOnCancel;
    static constexpr bool kReturnsValue = !std::is_same_v<T, Void>;

    FLOW_INLINE static void* operator new(std::size_t bytes)
        requires(S::kFrameLimit == 0)
    {
        return newFrame(bytes);
    }
    FLOW_INLINE static void* operator new(std::size_t bytes)
        requires(S::kFrameLimit != 0)
    {
        std::size_t const plainBytes = bytes - kCheckedPromiseBytes;
        checkFrameSize<T, S>(plainBytes, frameAlignment(plainBytes));
        return newFrame(bytes);
    }
    /// Frees only the block of a call in which the copy of a parameter threw. Else the last reference to the cell does.
    static void operator delete([[maybe_unused]] void* frame) noexcept {
        if constexpr (!S::kTakenOverSafely) {
            Cell* cell = Cell::of(static_cast<Waiter*>(frame));
            if (!cell->has(Cell::kHasFrame))
                freeCell<T>(cell);
        }
    }

    CoroPromiseBase()
        requires(!kOwnsParameters)
    = default;
    // auto&&: for a parameter that is declared T&&, gcc passes an rvalue to this constructor.
    FLOW_INLINE explicit CoroPromiseBase(auto&&... parameters)
        requires(kOwnsParameters)
        : parameters_(parameters...) {}
    ~CoroPromiseBase()
        requires(!kOwnsParameters)
    = default;
    /// If the frame is destroyed at a co_await, this runs after the destructors of locals, before those of parameters.
    FLOW_INLINE ~CoroPromiseBase()
        requires(kOwnsParameters)
    {
        parameters_.empty();
    }

    /// Called just before the body.
    std::suspend_never initial_suspend() noexcept {
        if constexpr (kFirstFlags != kFlags)
            this->cell()->flags = kFlags;
        return {};
    }
    Ending<Cell::kUnset> final_suspend() const noexcept {
        this->noteSuspended();
        return {};
    }
    /// Destroys the parameters at the final suspension, as destroying the frame would do.
    FLOW_INLINE void destroyParameters(Waiter* frame) const noexcept {
        if constexpr (kOwnsParameters)
            parameters_.destroy();
        else if constexpr (S::kDestroysParameters)
            opaque(frame)->destroy(frame);
    }
    void unhandled_exception() noexcept { this->noteFailed(keepCaught(this->cell())); }

    template <class U>
    FLOW_INLINE Given<Giving<U, BorrowedValueAwaiter<U, Base>>>
    await_transform(Future<U> const& future, std::source_location where = std::source_location::current()) {
        return borrow<Giving<U, BorrowedValueAwaiter<U, Base>>>(validCell(future, where), future, where);
    }
    template <class U>
    FLOW_INLINE Given<Giving<U, ValueAwaiter<U, Base>>>
    await_transform(Future<U>&& future, std::source_location where = std::source_location::current()) {
        return awaitOn<Giving<U, ValueAwaiter<U, Base>>>(coro::pending<U>(std::move(future), where).cell(), where);
    }
    template <class U>
    FLOW_INLINE Given<BorrowedStreamAwaiter<U, Base>>
    await_transform(FutureStream<U> const& stream, std::source_location where = std::source_location::current()) {
        return borrow<BorrowedStreamAwaiter<U, Base>>(readableCell(stream, where), stream, where);
    }
    template <class U>
    FLOW_INLINE Given<OutcomeAwaiter<U, Catching>>
    await_transform(Outcome<U>&& attempt, std::source_location where = std::source_location::current()) {
        return awaitOn<OutcomeAwaiter<U, Catching>>(coro::pending<U>(std::move(attempt.future), where).cell(), where);
    }
    template <class U, bool Keeps>
    FLOW_INLINE Given<Trying<U, Keeps>> await_transform(TryGet<U, Keeps>&& attempt,
                                                        std::source_location where = std::source_location::current()) {
        if constexpr (S::kPropagates)
            this->cell()->flags &= static_cast<std::uint8_t>(~Cell::kPropagates);
        return awaitOn<Trying<U, Keeps>>(coro::pending<U>(std::move(attempt.future), where).cell(), where);
    }
    FLOW_INLINE Given<DelayAwaiter<Base>>
    await_transform(Delay delay, std::source_location where = std::source_location::current()) {
        beginWait(where);
        this->waitFor(delay);
        return give<DelayAwaiter<Base>>(this);
    }
    FLOW_INLINE Given<DelayAwaiter<Base>>
    await_transform(Yield yield, std::source_location where = std::source_location::current()) {
        beginWait(where);
        this->waitFor(yield);
        return give<DelayAwaiter<Base>>(this);
    }
    FLOW_INLINE Given<DelayAwaiter<Base>>
    await_transform(Never never, std::source_location where = std::source_location::current()) {
        beginWait(where);
        this->template waitFor<S::kPropagates>(coro::pending<Void>(never, where).cell());
        return give<DelayAwaiter<Base>>(this);
    }
    template <class A>
        requires InPlace<std::remove_cvref_t<A>>
    FLOW_INLINE auto await_transform(A&& op, std::source_location where = std::source_location::current()) {
        beginWait(where);
        using ForOperation = OperationAwaiter<std::remove_reference_t<A>, Base>;
        return Giving<typename std::remove_cvref_t<A>::Result, ForOperation>{ForOperation{this, &op}};
    }
    ParkedAwaiter await_transform(parked, std::source_location where = std::source_location::current()) {
        this->notePlace(where);
        return {};
    }

    /// Awaits an object that needs the promise itself, such as a race.
    template <class A>
        requires requires(A&& awaitable, CoroPromiseBase& promise) {
            awaitable.awaiter(promise, std::source_location());
        }
    FLOW_INLINE decltype(auto) await_transform(A&& awaitable,
                                               std::source_location where = std::source_location::current()) {
        beginWait(where);
        return awaitable.awaiter(*this, where);
    }

    /// Awaits a task, as a root, or a fork. A task awaits them as its children.
    template <class A>
        requires(!S::kIsTask && std::remove_cvref_t<A>::kIsTask && flow::detail::GivesFuture<A>)
    FLOW_INLINE decltype(auto) await_transform(A&& task, std::source_location where = std::source_location::current()) {
        return await_transform(std::forward<A>(task).future(), where);
    }

    NotAwaitable await_transform(NotAwaitable refused) { return refused; }

    FLOW_INLINE std::suspend_never await_transform(Self& self) {
        self.set(this);
        return {};
    }
    /// Called at the beginning of the body. Writes all flags, not only one bit: then the optimiser knows the value.
    FLOW_INLINE std::suspend_never await_transform(PropagatingSelf& self) {
        this->cell()->flags = kFlags | Cell::kPropagates;
        self.set(this);
        return {};
    }
    auto await_transform(ownCell) {
        struct Awaiter : std::suspend_never {
            Cell* cell;
            Cell* await_resume() const noexcept { return cell; }
        };
        return Awaiter{{}, this->cell()};
    }
    std::suspend_never await_transform(uncancellable) {
        this->cell()->flags =
            static_cast<std::uint8_t>((this->cell()->flags & ~Cell::kCancelled) | Cell::kUncancellable);
        return {};
    }
    Ending<Cell::kError> await_transform(fail failure) {
        this->noteFailed(failureOf(this->cell(), failure.error));
        this->noteSuspended();
        return {};
    }
    Ending<Cell::kError> await_transform(passOn failure) {
        this->noteFailed(failure.error);
        this->noteSuspended();
        return {};
    }
    Ending<Cell::kNever> await_transform(never) {
        this->noteSuspended();
        return {};
    }
    template <class U>
        requires std::is_constructible_v<T, U>
    Ending<Cell::kValue> await_transform(finish<U> result) {
        setValue(std::forward<U>(result.value));
        this->noteSuspended();
        return {};
    }
    template <class Given, class Wanted = T>
        requires(!std::is_constructible_v<T, Given>)
    FLOW_REFUSED(FLOW_NO_VALUE)
    std::suspend_never await_transform(finish<Given>) {
        return {};
    }

protected:
    /// Returns the future for the caller. The compiler knows from the handle that this is the frame's address.
    FLOW_INLINE Future<T> future() {
        auto self = std::coroutine_handle<CoroPromiseBase>::from_promise(*this);
        return Future<T>::adopt(static_cast<Cell*>(self.address()) - 1);
    }
    template <class U>
    void setValue(U&& value) {
        if (this->cell()->futures != 0)
            constructValue<T>(this->cell(), std::forward<U>(value));
    }

private:
    FLOW_INLINE static void* newFrame(std::size_t bytes) {
        std::size_t const alignment = frameAlignment(bytes);
        if (alignment > 16)
            return newAlignedCell<T>(bytes, alignment, 1, 1, kFirstFlags)->frame();
        return newCell<T>(bytes, 1, 1, kFirstFlags)->frame();
    }
    template <class A>
    FLOW_INLINE Given<A> awaitOn(Cell* operand, std::source_location where) {
        beginWait(where);
        this->setOperand(operand);
        return give<A>(this);
    }
    template <class A, class Operand>
    FLOW_INLINE Given<A> borrow(Cell* cell, Operand const& operand, std::source_location where) {
        beginWait(where);
        if (this->isCancelled()) [[unlikely]] {
            cell = cancelledCell(nullptr, this->frame());
            --cell->futures; // drops the reference: a cancelled cell is also borrowed; it lives as long as the thread
        }
        forget(operand);
        this->setBorrowed(cell);
        return give<A>(this);
    }
    FLOW_INLINE void beginWait(std::source_location where) {
        this->notePlace(where);
        if constexpr (!kAwaitsInOrder)
            FLOW_ASSERT(!this->isParked() && !this->hasAwaited(),
                        "gcc began two co_awaits of one expression at once: give each a statement of its own");
    }

    [[no_unique_address]] std::conditional_t<kOwnsParameters, typename S::Owned, Parameters<>> parameters_;
};

template <class T, class S>
class CoroPromise : public CoroPromiseBase<T, S> {
public:
    using CoroPromiseBase<T, S>::CoroPromiseBase;
    Future<T> get_return_object() { return this->future(); }
    template <class U = T, class = T>
        requires std::is_constructible_v<T, U>
    void return_value(U&& value) {
        this->setValue(std::forward<U>(value));
        this->noteReturnedValue();
    }
    template <class U = T>
        requires std::is_constructible_v<T, U const&>
    void return_value(U const& value) { // for `co_return {name};`
        this->setValue(value);
        this->noteReturnedValue();
    }
    template <class Given = flow::detail::AnyList, class Wanted = T>
    FLOW_REFUSED(FLOW_NO_VALUE)
    void return_value(Given&&) {}
};

template <class S>
class CoroPromise<Void, S> : public CoroPromiseBase<Void, S> {
public:
    using CoroPromiseBase<Void, S>::CoroPromiseBase;
    Future<Void> get_return_object() { return this->future(); }
};

/// The return type of a coroutine that has no Future and runs to its end. An error that escapes is reported as dropped.
struct Detached {};

/// The signature of a Detached coroutine: without a Future nothing can cancel it.
template <class S>
struct RunsToItsEnd : S {
    static constexpr bool kUncancellable = true;
};
template <class S>
class DetachedPromise : public CoroPromiseBase<Void, RunsToItsEnd<S>> {
public:
    using CoroPromiseBase<Void, RunsToItsEnd<S>>::CoroPromiseBase;
    Detached get_return_object() noexcept {
        this->cell()->futures = 0;
        return {};
    }
};

} // namespace flow::coro

/// The traits of a coroutine with a Future<T> that is refused. With these traits compilers report no further error.
template <flow::detail::NoValue T, class... Args>
struct std::coroutine_traits<flow::Future<T>, Args...> {
    struct promise_type {
        flow::Future<T> get_return_object();
        std::suspend_never initial_suspend();
        std::suspend_never final_suspend() noexcept;
        flow::coro::NotAwaitable await_transform(auto&& operand);
        void return_void();
        void unhandled_exception();
    };
};

template <class T, class... Args>
    requires(!flow::detail::NoValue<T>)
struct std::coroutine_traits<flow::Future<T>, Args...> {
    using promise_type = flow::coro::CoroPromise<T, flow::coro::Signature<std::remove_cv_t<Args>...>>;
};

template <class... Args>
struct std::coroutine_traits<flow::coro::Detached, Args...> {
    using promise_type = flow::coro::DetachedPromise<flow::coro::Signature<std::remove_cv_t<Args>...>>;
};

#include "flow/coro/detail/frame_check.h"
