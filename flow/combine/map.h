#pragma once
// Functions that make a new value from the value of a future.
//
//     Future<int> length = map(text, [](std::string const& s) { return int(s.size()); });
//     Future<Page> page = mapAsync(id, [](int n) { return load(n); });    // load is an actor
//     wait(store(answer, ask()));                                         // answer = the value
//
// If the future fails, the result fails with the same error, and the function is not called. If the function throws,
// the result fails. Cancel-safe: the future is released when the result is dropped.

#include "flow/coro/coroutine.h"

#include <functional>

namespace flow {

namespace combine {
/// The value type of the future for a function that returns T: Void if T is void.
template <class T>
using ValueOrVoid = std::conditional_t<std::is_void_v<T>, Void, std::remove_cvref_t<T>>;

// `function` is the first parameter because of gcc 12: if another parameter has a move that is not noexcept (a lambda
// with a const capture), each error becomes a throw (flow/docs/coroutines.md).

template <class F, class T>
Future<ValueOrVoid<std::invoke_result_t<F&, T>>> map(F function, Future<T> what, Propagate, ExplicitVoid = {}) {
    T value = co_await std::move(what);
    if constexpr (std::is_void_v<std::invoke_result_t<F&, T>>) {
        std::invoke(function, std::move(value));
        co_return Void();
    } else {
        co_return std::invoke(function, std::move(value));
    }
}
template <class U, class F, class T>
Future<U> mapAsync(F function, Future<T> what, Propagate, ExplicitVoid = {}) {
    Future<U> made;
    {
        T value = co_await std::move(what);
        made = Future<U>(std::invoke(function, std::move(value)));
    }
    co_return co_await std::move(made);
}
} // namespace combine

/// Calls `function` with the value, and returns a future of its result; Future<Void> if it returns void.
template <class T, class F>
Future<combine::ValueOrVoid<std::invoke_result_t<F&, T>>>
map(Future<T> what, F function, std::source_location caller = std::source_location::current()) {
    checkValid(what, caller);
    return combine::map(std::move(function), std::move(what), {});
}

/// Calls `function` with the value, and returns the result of the future that `function` returns.
template <class T, class F, class U = typename std::remove_cvref_t<std::invoke_result_t<F&, T>>::Element>
Future<U> mapAsync(Future<T> what, F function, std::source_location caller = std::source_location::current()) {
    checkValid(what, caller);
    return combine::mapAsync<U>(std::move(function), std::move(what), {});
}

/// Assigns the value to `out`, which must outlive the returned future. `out` does not change if the future fails.
template <class T>
Future<Void> store(T& out, Future<T> what, std::source_location caller = std::source_location::current()) {
    return map(std::move(what), [&out](T value) { out = std::move(value); }, caller);
}

} // namespace flow
