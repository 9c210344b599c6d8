#pragma once
// race(): waits for the first of several operands, like `choose` in actors.
//
//     auto first = co_await race(reply, delay(1.0), [&] { return retry(); });     // a coroutine, or a task
//     auto first = wait(race(reply, delay(1.0)));                                 // an actor
//     auto first = fiber::wait(race(reply, delay(1.0)));                          // a fiber
//     if (first.index() == 0) use(std::get<0>(first));
//
//     Winner<Row> first = co_await race(replicas);                                // a range of operands
//     print(first.index(), first.value());
//
// Operands are futures, streams, delays, operations in place, tasks, forks, races, or callables that return one of
// these. They are tested in order. The first operand that is ready wins; callables and tasks behind it do not even
// begin. An invalid future is misuse, even behind an operand that is ready. If no operand is ready, the coroutine waits
// until one is. The winner takes its result; then the losers are released, in order: futures with no other reference
// are cancelled; streams and operations keep their values. A stream must not be an operand twice. The result is a
// RaceResult with a place for each operand (Void for delays). An error of the winner is thrown.
//
// A race of futures, streams, delays and operations in place allocates only timers. With any other operand, or with
// evaluated(), each operation in place takes an allocation. A race converts to a Future of its result, or of a
// std::variant, with one allocation; an actor waits for this future. race() of a range returns a future, which is
// never ready if the range is empty. The winner's value is moved if no other future refers to it or if it cannot be
// copied. All operands are released before the waiter runs. Cancel-safe: a cancel, or dropping the future, releases all
// operands, and none has given a value.

#include "flow/combine/detail/decided.h"
#include "flow/coro/coroutine.h"
#include "flow/wait/operand.h"
#include "flow/wait/race_result.h"

#include <source_location>
#include <tuple>
#include <vector>

namespace flow {

namespace detail {
/// An argument of a race() that cannot be awaited. A program's own function race() fits better.
struct Refused {
    template <class X>
    Refused(X&&) {
        static_assert(CanBeAwaited<X>, "an operand of a race is a Future, a FutureStream, a delay, an operation, a "
                                       "task, or a function without parameters that makes one");
    }
};
template <>
struct OperandOf<Refused> : LazyOperand {
    using Value = coro::NotAwaitable::Anything;
    static Pending operand(auto const&, std::source_location) { return {}; }
    static Value take(Pending) { return {}; }
};
} // namespace detail

/// The object that race() returns. It refers to lvalue operands; the coroutine reads them before it suspends.
template <class... Operands>
class [[nodiscard]] Race {
    template <std::size_t I>
    using Operand = detail::OperandOf<std::remove_cvref_t<std::tuple_element_t<I, std::tuple<Operands...>>>>;
    template <std::size_t I>
    static constexpr bool kInPlace = InPlace<std::remove_cvref_t<std::tuple_element_t<I, std::tuple<Operands...>>>>;
    using Choice = Choose<sizeof...(Operands)>;
    static constexpr bool kAllExist = (detail::OperandOf<std::remove_cvref_t<Operands>>::kExists && ...);
    struct Nothing {
        void operator()() const {}
    };

public:
    using Value = RaceResult<typename detail::OperandOf<std::remove_cvref_t<Operands>>::Value...>;
    using Element = Value;
    using Variant = std::variant<typename detail::OperandOf<std::remove_cvref_t<Operands>>::Value...>;
    static constexpr bool kBecomesFuture = true; // see detail::BecomesFuture

    explicit Race(Operands&&... operands) : operands_(std::forward<Operands>(operands)...) {}
    /// Moves from a race for which no wait has begun. Operands that `other` holds by reference are moved or copied.
    template <class... Given>
    explicit Race(Race<Given...>&& other) : operands_(std::move(other.operands_)) {}
    Race(Race&& other) noexcept((std::is_nothrow_move_constructible_v<Operands> && ...))
        : operands_(std::move(other.operands_)) {}

    /// Begins the race. The operands are moved or copied into the frame of the future.
    Future<Value> future() && { return combine::finish<Value>(Owned(std::move(*this))); }
    operator Future<Value>() && { return std::move(*this).future(); }
    operator Future<Variant>() && { return combine::finish<Variant>(Owned(std::move(*this))); }

    /// Waits in a frame that is no coroutine, such as a fiber's. `suspend` returns when the frame is resumed.
    template <class Suspend>
    Value waitOn(detail::Waiter& frame, std::source_location where, Suspend suspend) {
        Nothing nothing;
        begin<kAllExist, false>(&frame, where, nothing);
        if (!decided<kAllExist, false>()) {
            choose_.park(&frame);
            suspend();
        }
        return settle();
    }

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

    /// The awaiter in a coroutine that propagates errors and cancels, or only cancels. A propagated error never reaches
    /// await_resume().
    template <bool AtOnce, bool Errors>
    struct PropagatingAwaiter : coro::AwaiterOn<Race> {
        FLOW_INLINE bool await_ready() const {
            Choice& choose = this->object()->choose_;
            return this->object()->template decided<AtOnce, Errors>() &&
                   !(Errors ? choose.hasFailed() : detail::Cell::of(choose.frame())->has(detail::Cell::kCancelled));
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

    /// Adds a function to a race: `co_await race(...).evaluated([&] { lock.reset(); })`. It is called after the test of
    /// the operands, before the coroutine suspends or continues. The co_await throws its exceptions.
    template <class Function>
    auto evaluated(Function function) && {
        return Evaluated<Function>{this, std::move(function)};
    }

    /// Returns the awaiter of a co_await. With AtOnce, no code runs between the test of the operands and the decision,
    /// so each operand is tested only once.
    template <bool AtOnce = kAllExist, class Promise, class Function = Nothing>
    FLOW_INLINE decltype(auto) awaiter(Promise& promise, std::source_location where, Function&& evaluated = {}) {
        begin<AtOnce, Promise::kPropagates>(promise.frame(), where, evaluated);
        using Awaiter = std::conditional_t<Promise::kEndsOnCancel, PropagatingAwaiter<AtOnce, Promise::kPropagates>,
                                           RaceAwaiter<AtOnce>>;
        return coro::give<Awaiter>(this);
    }

private:
    using Owned = Race<std::remove_cvref_t<Operands>...>;
    template <class... Others>
    friend class Race;

    template <class Function>
    struct [[nodiscard]] Evaluated {
        Race* race;
        Function function;

        template <class Promise>
        decltype(auto) awaiter(Promise& promise, std::source_location where) {
            return race->template awaiter<false>(promise, where, function);
        }
    };

    template <bool AtOnce, bool Propagates, class Function>
    FLOW_INLINE void begin(detail::Waiter* frame, std::source_location where, Function& evaluated) {
        constexpr auto kAll = std::index_sequence_for<Operands...>();
        if constexpr (AtOnce) {
            checkValid(where, kAll);
            choose_.begin(frame);
        } else {
            evaluate<Propagates>(frame, where, evaluated, kAll);
        }
    }
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

    /// Tests the operands from I on. Returns true if one of them wins; otherwise parks at all operands. IsPutOff is
    /// true if an operand before I is ready, but the TurnBudget is used up.
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
        typename Choice::Evaluation evaluation(choose_); // a park throws if there is no memory for a timer
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
            ~Losers() { // runs after take() has returned the winner's value
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
            if (!cell) // without a cell, the operation itself has the value
                return Value(std::in_place_index<I>, std::get<I>(operands_).take());
        return Value(std::in_place_index<I>, Operand<I>::take(Pending(cell)));
    }

    std::tuple<Operands...> operands_;
    Choice choose_;
};

template <CanBeAwaited... Operands>
    requires(sizeof...(Operands) != 0)
auto race(Operands&&... operands) {
    return Race<Operands...>(std::forward<Operands>(operands)...);
}
/// Gives one short error for a call with an operand that cannot be awaited.
Race<detail::Refused, detail::Refused> race(detail::Refused, detail::Refused);
Race<detail::Refused, detail::Refused, detail::Refused> race(detail::Refused, detail::Refused, detail::Refused);
template <OperandRange R, class T = AwaitedValue<OperandIn<R>>>
Future<Winner<T>> race(R operands, std::source_location caller = std::source_location::current()) {
    if (std::size(operands) == 0)
        return Never();
    auto&& futures = combine::futuresOf(operands, 1, 0, caller);
    Future<Void> decided = quorumOf(futures, 1, Remaining::Released, Errors::Decide, caller);
    return combine::whenDecided(
        [](auto& all) {
            // The coroutine resumes as soon as one future is ready, so the lowest ready index is the winner.
            std::size_t index = 0;
            while (!all[index].isReady())
                ++index;
            return Winner<T>(index, std::move(all[index]).takeValue());
        },
        std::move(futures), std::move(decided));
}

} // namespace flow
