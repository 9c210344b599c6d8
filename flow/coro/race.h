#pragma once
// race: the first of several things, as `choose` is in actors.
//
//     auto first = co_await race(reply, delay(1.0), [&] { return retry(); });
//     if (first.index() == 0) use(std::get<0>(first));
//
// Operands are futures, streams, delays, or callables that make one. They are looked at in order; the first that is
// ready wins and later ones are not even evaluated, if they are callables. If none is ready the coroutine waits for the
// first to come. The losers are released before the race returns: futures that nobody else holds are cancelled, streams
// keep their elements. The result is a std::variant with a place for each operand (Void for delays). An error of the
// winner is thrown. Cancel-safe: cancelling releases all operands.

#include "flow/coro/coroutine.h"

#include <tuple>
#include <variant>

namespace flow {
namespace coro::detail {

/// How an operand of a race is waited for, and what it gives.
template <class Operand>
struct RaceOperand {
    using Made = std::remove_cvref_t<std::invoke_result_t<Operand&>>;
    using Value = typename RaceOperand<Made>::Value;
    static Pending operand(auto&& make) { return RaceOperand<Made>::operand(make()); }
    static Value take(Pending wait) { return RaceOperand<Made>::take(wait); }
};

template <class T>
struct RaceOperand<Future<T>> {
    using Value = T;
    static Pending operand(Future<T> const& future) { return flow::pending<T>(future); }
    static Pending operand(Future<T>&& future) { return flow::pending<T>(std::move(future)); }
    static T take(Pending wait) { return wait.takeValue<T>(); }
};

template <class T>
struct RaceOperand<StrictFuture<T>> : RaceOperand<Future<T>> {};

template <class T>
struct RaceOperand<FutureStream<T>> {
    using Value = T;
    static Pending operand(FutureStream<T> const& stream) { return flow::pendingNext<T>(stream); }
    static T take(Pending wait) { return wait.takeNext<T>(); }
};

struct TimeOperand {
    using Value = Void;
    static Pending operand(auto const& time) { return flow::pending<Void>(time); }
    static Void take(Pending wait) {
        wait.drop();
        return Void();
    }
};
template <>
struct RaceOperand<Delay> : TimeOperand {};
template <>
struct RaceOperand<Yield> : TimeOperand {};
template <>
struct RaceOperand<Never> : TimeOperand {};

} // namespace coro::detail

/// Operands that are lvalues are referred to: they are evaluated before the coroutine suspends.
template <class... Operands>
class [[nodiscard]] Race {
    template <std::size_t I>
    using Operand = coro::detail::RaceOperand<std::remove_cvref_t<std::tuple_element_t<I, std::tuple<Operands...>>>>;

public:
    using Value = std::variant<typename coro::detail::RaceOperand<std::remove_cvref_t<Operands>>::Value...>;

    explicit Race(Operands&&... operands) : operands_(std::forward<Operands>(operands)...) {}

    struct RaceAwaiter {
        Race* race;
        coro::PromiseBase* promise;

        bool await_ready() const noexcept { return race->choose_.decided(); }
        void await_suspend(std::coroutine_handle<>) const noexcept {
            race->choose_.park(promise->frame());
            promise->noteSuspended();
        }
        Value await_resume() const { return race->settle(); }
    };

    /// In a coroutine that propagates errors: they never reach await_resume.
    struct PassingAwaiter {
        Race* race;
        coro::PromiseBase* promise;
        bool decided;

        bool await_ready() const noexcept { return decided && !race->choose_.hasFailed(); }
        std::coroutine_handle<> await_suspend(std::coroutine_handle<>) const noexcept {
            promise->noteSuspended();
            detail::Waiter* frame = promise->frame();
            if (decided)
                return coro::handOver(detail::failFrame(frame, race->choose_.result().takeError()));
            race->choose_.park(frame);
            return coro::caller();
        }
        Value await_resume() const { return race->settle(); }
    };

    /// `co_await race(...).evaluated([&] { lock.reset(); })`: the function is called once the operands have been looked
    /// at, before the coroutine suspends or goes on.
    template <class Function>
    auto evaluated(Function function) && {
        return Evaluated<Function>{this, std::move(function)};
    }

    template <class Promise>
    auto awaiter(Promise& promise) {
        evaluate<Promise::kPropagates>(promise.frame(), std::index_sequence_for<Operands...>());
        if constexpr (Promise::kPropagates)
            return PassingAwaiter{this, &promise, choose_.decided()};
        else
            return RaceAwaiter{this, &promise};
    }

private:
    template <class Function>
    struct [[nodiscard]] Evaluated {
        Race* race;
        Function function;

        template <class Promise>
        auto awaiter(Promise& promise) {
            auto made = race->awaiter(promise);
            function();
            return made;
        }
    };

    template <bool Passing, std::size_t... I>
    void evaluate(detail::Waiter* frame, std::index_sequence<I...>) {
        auto evaluation = choose_.begin();
        (void)(choose_.template when<Passing>(frame,
                                              Operand<I>::operand(std::forward<Operands>(std::get<I>(operands_)))) ||
               ...);
        evaluation.done();
    }

    Value settle() {
        detail::Cell* cell = choose_.result().cell();
        [[maybe_unused]] std::tuple<Operands...> unevaluated(std::move(operands_));
        if (cell && cell->isError()) [[unlikely]]
            coro::throwError(cell);
        return take<0>(cell);
    }

    template <std::size_t I>
    Value take(detail::Cell* cell) {
        if constexpr (I + 1 < sizeof...(Operands))
            if (choose_.winner() != I)
                return take<I + 1>(cell);
        return Value(std::in_place_index<I>, Operand<I>::take(Pending(cell)));
    }

    std::tuple<Operands...> operands_;
    Choose<sizeof...(Operands)> choose_;
};

/// See the top of this file. At least one operand.
template <class... Operands>
auto race(Operands&&... operands) {
    static_assert(sizeof...(Operands) > 0, "a race needs something to wait for");
    return Race<Operands...>(std::forward<Operands>(operands)...);
}

} // namespace flow
