#pragma once
// Functions that change what happens to the error of a future.
//
//     ErrorOr<int> answer = wait(errorOr(ask()));                  // never raises
//     int answer = wait(brokenPromiseToNever(ask()));              // waits forever instead of raising broken_promise
//     Future<Void> cleaning = reportErrors(clean(), "cleaning", id);  // traces an error, even if no code reads it
//     int answer = wait(waitOrError(ask(), failure));              // or the error of `failure`, if that comes first
//
// Cancel-safe: the future is released when the result is dropped.

#include "flow/combine/race.h"
#include "flow/trace/trace_event.h"

namespace flow {

namespace combine {
// The coroutines of the functions below. A parameter `caller` would enlarge their frames.

template <class T>
Future<ErrorOr<T>> errorOr(Future<T> what) {
    co_return co_await tryGet(std::move(what));
}

template <class T>
Future<T> brokenPromiseToNever(Future<T> what) {
    ErrorOr<T> result = co_await coro::tryKeeping(std::move(what));
    if (result.isError(error_code_broken_promise))
        co_await coro::never{};
    if (result.isError())
        co_await coro::fail(result.getError());
    if constexpr (!std::is_same_v<T, Void>)
        co_return std::move(result).get();
}

template <class T>
Future<T> reportErrors(Future<T> what, const char* context, UID id) {
    ErrorOr<T> result = co_await coro::tryKeeping(std::move(what));
    if (result.isError()) {
        TraceEvent(SevError, context, id).error(result.getError());
        co_await coro::fail(result.getError());
    }
    if constexpr (!std::is_same_v<T, Void>)
        co_return std::move(result).get();
}

template <class T>
Future<T> waitOrError(Future<T> what, Future<Void> errorSignal, Propagate = {}, ExplicitVoid = {}) {
    auto first = co_await race(what, std::move(errorSignal));
    if (first.index() == 1)
        co_return co_await std::move(what);
    co_return std::get<0>(std::move(first));
}
} // namespace combine

/// Returns the value or the error of `what` as an ErrorOr. The returned future does not fail.
template <class T>
FLOW_INLINE Future<ErrorOr<T>> errorOr(Future<T> what, std::source_location caller = std::source_location::current()) {
    checkValid(what, caller);
    return combine::errorOr(std::move(what));
}

/// Returns the result of `what`. If the error is broken_promise, the returned future never becomes ready.
template <class T>
FLOW_INLINE Future<T> brokenPromiseToNever(Future<T> what,
                                           std::source_location caller = std::source_location::current()) {
    checkValid(what, caller);
    return combine::brokenPromiseToNever(std::move(what));
}

/// Returns the result of `what`. Traces an error, except actor_cancelled, as an event `context` of severity SevError.
template <class T>
FLOW_INLINE Future<T> reportErrors(Future<T> what, const char* context, UID id = UID(),
                                   std::source_location caller = std::source_location::current()) {
    checkValid(what, caller);
    return combine::reportErrors(std::move(what), context, id);
}

/// Returns the result of `what`, or the error of `errorSignal` if it comes first. Ignores a value of `errorSignal`. If
/// both are ready, `what` counts.
template <class T>
FLOW_INLINE Future<T> waitOrError(Future<T> what, Future<Void> errorSignal,
                                  std::source_location caller = std::source_location::current()) {
    checkValid(what, caller);
    checkValid(errorSignal, caller);
    return combine::waitOrError(std::move(what), std::move(errorSignal));
}

} // namespace flow
