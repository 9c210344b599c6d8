#pragma once
// Operands: the objects for which race(), all(), some(), timeout() and fibers wait. A program's function can take one:
//
//     template <CanBeAwaited X>
//     Future<AwaitedValue<X>> logged(X operand, std::source_location caller);
//
// An operand is a Future; a FutureStream, for its next value; a delay, a yield() or Never(); an operation in place; a
// Fork; a Task, which then has no parent; a race(); or a function without parameters that returns one of these.

#include "flow/wait/detail/pending.h"

#include <concepts>
#include <iterator>
#include <utility>

namespace flow {
namespace detail {

/// The way to wait for an operand of type X. If X can be awaited, OperandOf<X> has a Value: the type of the result.
template <class X>
struct OperandOf {};

template <class X>
concept IsOperand = requires { typename OperandOf<X>::Value; };

/// An operand that may run code of the program, or allocate, when a Pending is made from it.
struct LazyOperand {
    static constexpr bool kExists = false;
    static bool isReady(auto const&) { return false; }
    static void checkValid(auto const&, std::source_location) {}
};
struct ExistingOperand : LazyOperand {
    static constexpr bool kExists = true;
};

template <class X>
    requires(std::is_invocable_v<X&> && !InPlace<X> && IsOperand<std::remove_cvref_t<std::invoke_result_t<X&>>>)
struct OperandOf<X> : LazyOperand {
    using Made = OperandOf<std::remove_cvref_t<std::invoke_result_t<X&>>>;
    using Value = typename Made::Value;
    static Pending operand(auto&& make, std::source_location where) { return Made::operand(make(), where); }
    static Value take(Pending wait) { return Made::take(wait); }
};

template <class T>
struct FutureOperand : ExistingOperand {
    using Value = T;
    static void checkValid(Future<T> const& future, std::source_location where) { validCell(future, where); }
    static bool isReady(Future<T> const& future) { return future.cell()->isReady(); }
    static Pending operand(Future<T> const& future, std::source_location where) {
        return flow::pending<T>(future, where);
    }
    static Pending operand(Future<T>&& future, std::source_location where) {
        return flow::pending<T>(std::move(future), where);
    }
    static T take(Pending wait) { return wait.takeValue<T>(); }
};
template <class X>
    requires std::is_base_of_v<Future<typename X::Element>, X>
struct OperandOf<X> : FutureOperand<typename X::Element> {};

template <class T>
struct OperandOf<FutureStream<T>> : ExistingOperand {
    using Value = T;
    static void checkValid(FutureStream<T> const& stream, std::source_location where) { validCell(stream, where); }
    static bool isReady(FutureStream<T> const& stream) { return readableCell(stream)->isReady(); }
    static Pending operand(FutureStream<T> const& stream, std::source_location where) {
        return flow::pendingNext<T>(stream, where);
    }
    static T take(Pending wait) { return wait.takeNext<T>(); }
};

template <InPlace Op>
struct OperandOf<Op> : ExistingOperand {
    using Value = typename Op::Result;
    static bool isReady(Op& op) { return op.isReady(); }
    FLOW_INLINE static bool goesOn() { return flow::detail::goesOn<Op>(); }
    static Pending operand(Op const& op, std::source_location) { return flow::pending<Value>(op); }
    static Value take(Pending wait) { return wait.takeValue<Value>(); }
};

template <class Kind>
struct TimeOperand : Kind {
    using Value = Void;
    static Pending operand(auto const& time, std::source_location) { return flow::pending<Void>(time); }
    static Void take(Pending wait) {
        wait.drop();
        return Void();
    }
};
template <>
struct OperandOf<Delay> : TimeOperand<ExistingOperand> {};
template <>
struct OperandOf<Yield> : TimeOperand<LazyOperand> {}; // a Yield that is ready may not be ready at the next test
template <>
struct OperandOf<Never> : TimeOperand<LazyOperand> {}; // a Never makes a cell, for which there may be no memory

template <GivesFuture X>
struct OperandOf<X> : LazyOperand {
    using Value = typename X::Element;
    static Pending operand(auto&& awaitable, std::source_location where) {
        return flow::pending<Value>(std::forward<decltype(awaitable)>(awaitable).future(), where);
    }
    static Value take(Pending wait) { return wait.takeValue<Value>(); }
};

} // namespace detail

/// True if race(), all(), timeout() and the like take an X, and fibers can wait for it. A co_await in a coroutine and a
/// wait() in an actor take an X too, unless X is a function.
template <class X>
concept CanBeAwaited = detail::IsOperand<std::remove_cvref_t<X>>;
/// The type of the result of a wait for an X; Void if the wait has no result.
template <CanBeAwaited X>
using AwaitedValue = typename detail::OperandOf<std::remove_cvref_t<X>>::Value;

/// An operand of the range R.
template <class R>
using OperandIn = std::remove_cvref_t<decltype(*std::begin(std::declval<R&>()))>;
/// True if R is a range of operands, with a size: a vector, an array, a span, or a view such as std::views::transform.
template <class R>
concept OperandRange = requires(R& range) {
    std::size(range);
    { *std::begin(range) } -> CanBeAwaited;
};

/// Asserts that the operand is not an invalid future or stream. A function that waits for its argument calls
/// checkValid() with its own caller, so that the assertion names the place of that call.
template <CanBeAwaited X>
void checkValid(X const& operand, std::source_location caller) {
    detail::OperandOf<X>::checkValid(operand, caller);
}

} // namespace flow
