#pragma once
// race: waits for the first of several operands, as `choose` does in actors.
//
//     auto first = co_await race(reply, delay(1.0), [&] { return retry(); });
//     if (first.index() == 0) use(std::get<0>(first));
//
// Operands are futures, streams, delays, operations in place, or callables that make one. They are checked in order;
// the first that is ready wins and later ones are not even evaluated, if they are callables. An invalid future is
// misuse, even behind an operand that is ready. If none is ready the coroutine waits for the first to come. The winner
// takes its result; then the losers are released, in their order: futures with no other reference are cancelled.
// Streams and operations that lose keep their values. A stream can be no more than one operand. An operation in place
// that a callable makes takes one block, others take none. The result is a RaceResult with a place for each operand
// (Void for delays). An error of the winner is thrown. Cancel-safe: cancelling releases all operands.

#include "flow/coro/coroutine.h"
#include "flow/wait/race_result.h"

#include <tuple>

namespace flow {
namespace coro::detail {

/// The traits of an operand of a race: how to wait for it, and the type of its value.
template <class Operand>
struct RaceOperand {
    using Made = std::remove_cvref_t<std::invoke_result_t<Operand&>>;
    using Value = typename RaceOperand<Made>::Value;
    static constexpr bool kExists = false;
    static Pending operand(auto&& make, std::source_location where) {
        return RaceOperand<Made>::operand(make(), where);
    }
    static Value take(Pending wait) { return RaceOperand<Made>::take(wait); }
};

template <class Operand>
    requires(!std::is_invocable_v<Operand&> && !InPlace<Operand>)
struct RaceOperand<Operand> {
    static_assert(std::is_invocable_v<Operand&>, "an operand of a race is a Future, a FutureStream, a delay, an "
                                                 "operation, or a function without parameters that makes one");
    using Value = Void;
    static constexpr bool kExists = false;
    static Pending operand(auto const&, std::source_location) { return {}; }
    static Void take(Pending) { return {}; }
};

struct ExistingOperand {
    static constexpr bool kExists = true; // making it a Pending runs no code of the program
    static bool isReady(auto const&) { return false; }
    static void checkValid(auto const&, std::source_location) {}
};

template <class T>
struct RaceOperand<Future<T>> : ExistingOperand {
    using Value = T;
    static void checkValid(Future<T> const& future, std::source_location where) {
        flow::detail::validCell(future, where);
    }
    static bool isReady(Future<T> const& future) { return future.cell()->isReady(); }
    static Pending operand(Future<T> const& future, std::source_location where) {
        return flow::pending<T>(future, where);
    }
    static Pending operand(Future<T>&& future, std::source_location where) {
        return flow::pending<T>(std::move(future), where);
    }
    static T take(Pending wait) { return wait.takeValue<T>(); }
};

template <class T>
struct RaceOperand<StrictFuture<T>> : RaceOperand<Future<T>> {};

template <class T>
struct RaceOperand<FutureStream<T>> : ExistingOperand {
    using Value = T;
    static void checkValid(FutureStream<T> const& stream, std::source_location where) {
        flow::detail::validCell(stream, where);
    }
    static bool isReady(FutureStream<T> const& stream) { return flow::detail::readableCell(stream)->isReady(); }
    static Pending operand(FutureStream<T> const& stream, std::source_location where) {
        return flow::pendingNext<T>(stream, where);
    }
    static T take(Pending wait) { return wait.takeNext<T>(); }
};

template <InPlace Op>
struct RaceOperand<Op> : ExistingOperand {
    using Value = typename Op::Result;
    static bool isReady(Op& op) { return op.isReady(); }
    FLOW_INLINE static bool goesOn() { return flow::detail::goesOn<Op>(); }
    static Pending operand(Op const& op, std::source_location) { return flow::pending<Value>(op); }
    static Value take(Pending wait) { return wait.takeValue<Value>(); }
};

struct TimeOperand : ExistingOperand {
    using Value = Void;
    static Pending operand(auto const& time, std::source_location) { return flow::pending<Void>(time); }
    static Void take(Pending wait) {
        wait.drop();
        return Void();
    }
};
template <>
struct RaceOperand<Delay> : TimeOperand {};
template <>
struct RaceOperand<Yield> : TimeOperand {
    static constexpr bool kExists = false; // it may be ready, or not when it is tested again
};
template <>
struct RaceOperand<Never> : TimeOperand {
    static constexpr bool kExists = false; // there may be no memory for its cell
};

} // namespace coro::detail

/// Refers to operands that are lvalues: they are evaluated before the coroutine suspends.
template <class... Operands>
class [[nodiscard]] Race {
    template <std::size_t I>
    using Operand = coro::detail::RaceOperand<std::remove_cvref_t<std::tuple_element_t<I, std::tuple<Operands...>>>>;
    template <std::size_t I>
    static constexpr bool kInPlace = InPlace<std::remove_cvref_t<std::tuple_element_t<I, std::tuple<Operands...>>>>;
    using Choice = Choose<sizeof...(Operands)>;
    static constexpr bool kAllExist = (coro::detail::RaceOperand<std::remove_cvref_t<Operands>>::kExists && ...);
    struct Nothing {
        void operator()() const {}
    };

public:
    using Value = RaceResult<typename coro::detail::RaceOperand<std::remove_cvref_t<Operands>>::Value...>;

    explicit Race(Operands&&... operands) : operands_(std::forward<Operands>(operands)...) {}

    template <bool AtOnce>
    struct RaceAwaiter : coro::AwaiterOn<Race> {
        FLOW_INLINE bool await_ready() const { return this->object()->template decided<AtOnce, false>(); }
        FLOW_INLINE void await_suspend(std::coroutine_handle<> handle) const noexcept {
            Choice& choose = this->object()->choose_;
            choose.park(choose.frame());
            coro::PromiseBase::of(handle)->noteSuspended();
        }
        FLOW_INLINE Value await_resume() const { return this->object()->settle(); }
    };

    /// In a coroutine that propagates errors: they never reach await_resume.
    template <bool AtOnce>
    struct PropagatingAwaiter : coro::AwaiterOn<Race> {
        FLOW_INLINE bool await_ready() const {
            return this->object()->template decided<AtOnce, true>() && !this->object()->choose_.hasFailed();
        }
        FLOW_INLINE void await_suspend(std::coroutine_handle<> handle) const noexcept {
            coro::PromiseBase::of(handle)->noteSuspended();
            Choice& choose = this->object()->choose_;
            if (choose.isOver())
                coro::failAtOnce(choose.frame(), choose.result().cell());
            else
                choose.park(choose.frame());
        }
        FLOW_INLINE Value await_resume() const { return this->object()->settle(); }
    };

    /// `co_await race(...).evaluated([&] { lock.reset(); })`: the function is called once the operands have been
    /// tested, before the coroutine suspends or goes on. The co_await throws an exception of the function, as it does
    /// one of an operand.
    template <class Function>
    auto evaluated(Function function) && {
        return Evaluated<Function>{this, std::move(function)};
    }

    /// AtOnce: nothing runs between the operands and the decision, so that no operand needs to be tested twice.
    template <bool AtOnce = kAllExist, class Promise, class Function = Nothing>
    FLOW_INLINE decltype(auto) awaiter(Promise& promise, std::source_location where, Function&& evaluated = {}) {
        constexpr auto kAll = std::index_sequence_for<Operands...>();
        if constexpr (AtOnce) {
            checkValid(where, kAll);
            choose_.begin(promise.frame());
        } else {
            evaluate<Promise::kPropagates>(promise.frame(), where, evaluated, kAll);
        }
        return coro::give<std::conditional_t<Promise::kPropagates, PropagatingAwaiter<AtOnce>, RaceAwaiter<AtOnce>>>(
            this);
    }

private:
    template <class Function>
    struct [[nodiscard]] Evaluated {
        Race* race;
        Function function;

        template <class Promise>
        decltype(auto) awaiter(Promise& promise, std::source_location where) {
            return race->template awaiter<false>(promise, where, function);
        }
    };

    template <std::size_t... I>
    FLOW_INLINE void checkValid(std::source_location where, std::index_sequence<I...>) {
        (Operand<I>::checkValid(std::get<I>(operands_), where), ...);
    }

    template <bool AtOnce, bool Propagates>
    FLOW_INLINE bool decided() {
        if constexpr (AtOnce) {
            return choose_.cancelled() || decidedFrom<Propagates, 0>();
        } else {
            return choose_.decided();
        }
    }

    template <std::size_t I>
    FLOW_INLINE Pending operand(std::source_location where = {}) {
        using Type = std::tuple_element_t<I, std::tuple<Operands...>>;
        return Operand<I>::operand(std::forward<Type>(std::get<I>(operands_)), where);
    }

    /// Tests the operands from I on. None of the others is ready; with IsPutOff one is, but it resumes in a later turn.
    template <bool Propagates, std::size_t I, bool IsPutOff = false>
    FLOW_INLINE bool decidedFrom() {
        if constexpr (I == sizeof...(Operands)) {
            parkAll<Propagates, IsPutOff>(std::index_sequence_for<Operands...>());
            return false;
        } else {
            if (!Operand<I>::isReady(std::get<I>(operands_)))
                return decidedFrom<Propagates, I + 1, IsPutOff>();
            if constexpr (kInPlace<I>) {
                if (!Operand<I>::goesOn()) [[unlikely]]
                    return putOff<Propagates, I + 1>();
                choose_.decide(I, Pending());
            } else {
                choose_.decide(I, operand<I>());
            }
            return true;
        }
    }
    template <bool Propagates, std::size_t I>
    [[gnu::noinline, gnu::cold]] bool putOff() {
        return decidedFrom<Propagates, I, true>();
    }
    template <bool Propagates, bool IsPutOff, std::size_t... I>
    FLOW_INLINE void parkAll(std::index_sequence<I...>) {
        typename Choice::Evaluation evaluation(choose_); // there may be no memory for a timer
        (parkAt<Propagates, IsPutOff, I>(), ...);
        choose_.parkedAll(sizeof...(I));
        evaluation.done();
    }
    template <bool Propagates, bool IsPutOff, std::size_t I>
    FLOW_INLINE void parkAt() {
        if constexpr (kInPlace<I>)
            choose_.template parkOperation<Propagates, IsPutOff>(I, std::get<I>(operands_));
        else
            choose_.template parkThere<Propagates>(I, operand<I>());
    }

    template <bool Propagates, class Function, std::size_t... I>
    void evaluate(detail::Waiter* frame, std::source_location where, Function& evaluated, std::index_sequence<I...>) {
        auto evaluation = choose_.evaluate(frame);
        (void)(choose_.template when<Propagates>(operand<I>(where)) || ...);
        evaluated();
        evaluation.done();
    }

    FLOW_INLINE Value settle() {
        struct Losers {
            Race* race;
            ~Losers() { // after the winner has taken
                race->choose_.releaseLosers();
                [[maybe_unused]] std::tuple<Operands...> unevaluated(std::move(race->operands_));
            }
        } losers{this};
        detail::Cell* cell = choose_.found().cell();
        if (cell && cell->isError()) [[unlikely]]
            coro::throwError(cell);
        return take<0>(cell);
    }

    template <std::size_t I>
    FLOW_INLINE Value take(detail::Cell* cell) {
        if constexpr (I + 1 < sizeof...(Operands))
            if (!choose_.won(I))
                return take<I + 1>(cell);
        if constexpr (kInPlace<I>)
            if (!cell) // if the operands are evaluated one by one, the operation has a cell
                return Value(std::in_place_index<I>, std::get<I>(operands_).take());
        return Value(std::in_place_index<I>, Operand<I>::take(Pending(cell)));
    }

    std::tuple<Operands...> operands_;
    Choice choose_;
};

/// See the top of this file.
template <class First, class... Others>
auto race(First&& first, Others&&... others) {
    return Race<First, Others...>(std::forward<First>(first), std::forward<Others>(others)...);
}

} // namespace flow
