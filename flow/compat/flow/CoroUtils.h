#pragma once
// Functions and types for coroutines, under the old header name and the old names:
//
//     ErrorOr<int> answer = co_await coro::errorOr(ask());     // never throws
//     co_await coro::ignore(goodbye());                        // neither its value nor its error is of interest
//
//     co_await Choose()                                        // the function of the first that is ready is called
//         .When(ask(), [&](int const& answer) { sum += answer; })
//         .When([] { return delay(1.0); }, [&](Void const&) { late = true; })     // made if none before is ready
//         .run();

#include "../../flow.h"
#include "Coroutines.h"

#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

using flow::ExplicitVoid;
using flow::race;
using flow::Uncancellable;

/// Flow's future for a value that is taken once. Here the value may also be copied.
template <class T>
using AsyncResult = flow::Future<T>;

template <class T>
auto getAllAsync(std::vector<AsyncResult<T>> all) {
    return flow::getAll(std::move(all));
}

/// The value, or `late` if the signal comes first.
template <class T>
flow::Future<T> timeoutChoose(flow::Future<T> what, flow::Future<flow::Void> signal, T late, ExplicitVoid = {}) {
    auto first = co_await flow::race(std::move(what), std::move(signal));
    co_return first.index() == 0 ? std::get<0>(std::move(first)) : std::move(late);
}

/// Has no effect as a parameter of a coroutine here: a cancel throws actor_cancelled.
struct NoThrowOnCancel {};

/// The type of Choose() after each When().
template <class... Branches>
class Choose {
public:
    Choose() = default;
    explicit Choose(std::tuple<Branches...> branches) : branches_(std::move(branches)) {}

    /// `what` is a Future or a FutureStream, or a function without parameters that makes one.
    template <class What, class F>
    auto When(What what, F function) && {
        std::tuple<std::pair<What, F>> last(std::pair<What, F>(std::move(what), std::move(function)));
        return Choose<Branches..., std::pair<What, F>>(std::tuple_cat(std::move(branches_), std::move(last)));
    }
    /// Throws an exception of the function, or the error of the branch that was first.
    flow::Future<flow::Void> run() && { return runAll(std::move(branches_), std::index_sequence_for<Branches...>()); }

private:
    template <std::size_t... I>
    static flow::Future<flow::Void> runAll(std::tuple<Branches...> branches, std::index_sequence<I...>) {
        auto first = co_await flow::race(std::get<I>(branches).first...);
        (void)((first.index() == I && (std::get<I>(branches).second(std::get<I>(first)), true)) || ...);
    }

    std::tuple<Branches...> branches_;
};

// A namespace of its own and no alias, so that a program may have more names in it.
namespace coro {

/// The result type of race() of such futures and streams.
template <class... Futures>
using RaceResult = flow::RaceResult<typename std::decay_t<Futures>::Element...>;

template <class T>
auto errorOr(flow::Future<T> what) {
    return flow::tryGet(std::move(what));
}
template <class T>
auto ignore(flow::Future<T> what) {
    return ::coro::errorOr(std::move(what));
}

} // namespace coro

/// The elements of the stream, up to its end_of_stream.
template <class T>
::AsyncGenerator<T> toGenerator(flow::FutureStream<T> stream) {
    try {
        for (;;) {
            T next = co_await stream;
            co_yield std::move(next);
        }
    } catch (flow::Error& e) {
        if (e.code() != flow::error_code_end_of_stream)
            throw;
    }
}
/// The elements for which the predicate is true: `map` is the old name.
template <class T, class F>
::AsyncGenerator<T> map(::AsyncGenerator<T> all, F predicate) {
    while (all) {
        T next = co_await all();
        if (predicate(next))
            co_yield std::move(next);
    }
}
