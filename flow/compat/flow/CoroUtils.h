#pragma once
// Functions and types for coroutines, under the old header name and the old names:
//
//     ErrorOr<int> answer = co_await coro::errorOr(ask());     // never throws
//     co_await coro::ignore(goodbye());                        // drops its value, throws its error
//
//     co_await Choose()                                        // calls the function of the first ready branch
//         .When(ask(), [&](int const& answer) { sum += answer; })
//         .When([] { return delay(1.0); }, [&](Void const&) { late = true; })     // called if no earlier one is ready
//         .run();

#include "../../flow.h"
#include "Coroutines.h"

#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

using flow::ExplicitVoid;
using flow::NoThrowOnCancel;
using flow::race;
using flow::Uncancellable;

/// Flow's future for a value that is taken once. Here it is a Future.
template <class T>
using AsyncResult = flow::Future<T>;

template <class T>
auto getAllAsync(std::vector<AsyncResult<T>> all) {
    return flow::getAll(std::move(all));
}

/// Returns the value, or `late` if the signal is ready first.
template <class T>
flow::Future<T> timeoutChoose(flow::Future<T> what, flow::Future<flow::Void> signal, T late, flow::Propagate = {},
                              ExplicitVoid = {}) {
    auto first = co_await flow::race(std::move(what), std::move(signal));
    co_return first.index() == 0 ? std::get<0>(std::move(first)) : std::move(late);
}

/// The type of Choose() after each When().
template <class... Branches>
class Choose {
public:
    Choose() = default;
    explicit Choose(std::tuple<Branches...> branches) : branches_(std::move(branches)) {}

    /// Adds a branch. `what` is a Future or a FutureStream, or a function without parameters that makes one.
    template <class What, class F>
    auto When(What what, F function) && {
        std::tuple<std::pair<What, F>> last(std::pair<What, F>(std::move(what), std::move(function)));
        return Choose<Branches..., std::pair<What, F>>(std::tuple_cat(std::move(branches_), std::move(last)));
    }
    /// Runs the first branch. Fails with the exception of its function, or with the error of the branch.
    flow::Future<flow::Void> run() && { return runAll(std::move(branches_), std::index_sequence_for<Branches...>()); }

private:
    template <std::size_t... I>
    static flow::Future<flow::Void> runAll(std::tuple<Branches...> branches, std::index_sequence<I...>,
                                           flow::Propagate = {}) {
        auto first = co_await flow::race(std::get<I>(branches).first...);
        (void)((first.index() == I && (std::get<I>(branches).second(std::get<I>(first)), true)) || ...);
    }

    std::tuple<Branches...> branches_;
};

// No alias of flow::coro, so that a program can add names to this namespace.
namespace coro {

/// The result type of race() with these futures and streams.
template <class... Futures>
using RaceResult = flow::RaceResult<typename std::decay_t<Futures>::Element...>;

/// co_await gives the value or the error as an ErrorOr; a cancel of the coroutine that waits is thrown.
template <class T>
auto errorOr(flow::Future<T> what) {
    return flow::coro::outcome(std::move(what));
}
template <class T>
flow::Future<flow::Void> ignore(flow::Future<T> what, std::source_location caller = std::source_location::current()) {
    return flow::success(flow::WaitInput(what, caller));
}

} // namespace coro

/// Returns the elements of the stream, up to end_of_stream.
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
/// Returns the elements for which the predicate is true. `map` is the old name.
template <class T, class F>
::AsyncGenerator<T> map(::AsyncGenerator<T> all, F predicate) {
    while (all) {
        T next = co_await all();
        if (predicate(next))
            co_yield std::move(next);
    }
}
