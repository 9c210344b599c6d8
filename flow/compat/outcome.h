#pragma once
// Futures that depend on the outcome of other futures: names that programs of Flow use.
//
//     wait(ready(reply));                              // value or error
//     int which = wait(tag(done, 7));                  // 7, when `done` is ready
//     wait(onEqual(state, Open));                      // ready if state == Open, else never
//     wait(returnIfTrue(found));                       // ready if found == true, else never
//     bool most = wait(quorumEqualsTrue(votes, 2));    // as soon as it is certain
//     bool any = wait(shortCircuitAny(votes));         // at the first that is true, else when all are ready
//     Page page = wait(transformErrors(load(), io_error()));
//     Page page = wait(throwErrorOr(tryToLoad()));     // the value of the ErrorOr, or its error
//     Future<Page> page = tagError<Page>(stopped, operation_obsolete());   // fails with it when `stopped` is ready
//     wait(setAfter(open, 5.0, true));                 // open->set(true)
//
// Unless a comment says otherwise, errors of the inputs fail the result. Cancel-safe: dropping the result releases the
// inputs.

#include "flow/combine/race.h"
#include "flow/compat/wait_for_all.h"
#include "flow/sync/async_var.h"
#include "flow/wait/delay.h"

#include <functional>
#include <vector>

namespace flow {

namespace combine {
// The coroutines of the functions below. They have no parameter `caller`, which would enlarge the frames.

template <class T>
Future<Void> ready(Future<T> what) {
    (void)co_await tryGet(std::move(what));
}

template <class T>
Future<T> tag(Future<Void> signal, T value, Propagate = {}) {
    co_await std::move(signal);
    co_return std::move(value);
}

template <class T>
Future<T> tagError(Future<Void> signal, Error error, Propagate = {}, ExplicitVoid = {}) {
    co_await std::move(signal);
    co_return co_await Future<T>(error);
}

template <class T>
Future<Void> onEqual(Future<T> what, std::type_identity_t<T> value, Propagate = {}, ExplicitVoid = {}) {
    T found = co_await std::move(what);
    if (!(found == value))
        co_await coro::never{};
    co_return Void();
}

template <class T>
Future<T> transformErrors(Future<T> what, Error error) {
    ErrorOr<T> result = co_await tryGet(std::move(what));
    if (result.isError()) {
        Error thrown = result.isError(error_code_actor_cancelled) ? result.getError() : error;
        co_await coro::fail(thrown);
    }
    if constexpr (!std::is_same_v<T, Void>)
        co_return std::move(result).get();
}

template <class T>
Future<T> transformError(Future<T> what, Error from, Error to) {
    ErrorOr<T> result = co_await tryGet(std::move(what));
    if (result.isError()) {
        Error thrown = result.isError(from.code()) ? to : result.getError();
        co_await coro::fail(thrown);
    }
    if constexpr (!std::is_same_v<T, Void>)
        co_return std::move(result).get();
}

template <class T>
Future<T> throwErrorOr(Future<ErrorOr<T>> what, Propagate = {}, ExplicitVoid = {}) {
    ErrorOr<T> result = co_await std::move(what);
    if (result.isError())
        co_await coro::fail(result.getError());
    co_return std::move(result).get();
}

template <class F, class T>
auto fmap(F function, Future<T> what, Propagate = {}, ExplicitVoid = {})
    -> Future<std::remove_cvref_t<std::invoke_result_t<F&, T>>> {
    T value = co_await std::move(what);
    co_return std::invoke(function, std::move(value));
}

template <class T>
Future<Void> setWhenDoneOrError(Future<Void> condition, Reference<AsyncVar<T>> variable,
                                std::type_identity_t<T> value) {
    ErrorOr<Void> ended = co_await tryGet(std::move(condition));
    if (ended.isError(error_code_actor_cancelled))
        co_await coro::fail(ended.getError());
    variable->set(value);
}

template <class T>
Future<Void> broadcast(Future<T> what, std::vector<Promise<T>> to, Propagate = {}, ExplicitVoid = {}) {
    T value = co_await std::move(what);
    for (Promise<T> const& each : to)
        each.send(value);
    co_return Void();
}
} // namespace combine

/// Returns a future that is ready when `what` has a value or an error.
template <class T>
FLOW_INLINE Future<Void> ready(Future<T> what, std::source_location caller = std::source_location::current()) {
    checkValid(what, caller);
    return combine::ready(std::move(what));
}

template <class T>
FLOW_INLINE Future<T> tag(Future<Void> signal, T value, std::source_location caller = std::source_location::current()) {
    checkValid(signal, caller);
    return combine::tag(std::move(signal), std::move(value));
}

template <class T>
FLOW_INLINE Future<T> tagError(Future<Void> signal, Error error,
                               std::source_location caller = std::source_location::current()) {
    checkValid(signal, caller);
    return combine::tagError<T>(std::move(signal), error);
}

/// Returns a future that is ready if the value of `what` equals `value`; otherwise it is never ready.
template <class T>
FLOW_INLINE Future<Void> onEqual(Future<T> what, std::type_identity_t<T> value,
                                 std::source_location caller = std::source_location::current()) {
    checkValid(what, caller);
    return combine::onEqual(std::move(what), std::move(value));
}

inline Future<Void> returnIfTrue(Future<bool> what, std::source_location caller = std::source_location::current()) {
    return onEqual(std::move(what), true, caller);
}

/// Returns true if at least `required` of the futures have the value true. `required` is at most their number.
inline Future<bool> quorumEqualsTrue(std::vector<Future<bool>> what, int required, Propagate = {},
                                     std::source_location caller = std::source_location::current()) {
    std::vector<Future<Void>> yes, no;
    for (Future<bool> const& each : what) {
        yes.push_back(onEqual(each, true, caller));
        no.push_back(onEqual(each, false, caller));
    }
    auto needed = static_cast<std::size_t>(required);
    if (needed == 0)
        co_return true;
    auto first = co_await race(quorum(yes, needed, Remaining::RunOn, caller),
                               quorum(no, what.size() - needed + 1, Remaining::RunOn, caller));
    co_return first.index() == 0;
}

inline Future<bool> shortCircuitAny(std::vector<Future<bool>> what, Propagate = {},
                                    std::source_location caller = std::source_location::current()) {
    if (what.empty())
        co_return false;
    co_return co_await quorumEqualsTrue(std::move(what), 1, {}, caller);
}

/// Replaces any error but actor_cancelled by `error`.
template <class T>
FLOW_INLINE Future<T> transformErrors(Future<T> what, Error error,
                                      std::source_location caller = std::source_location::current()) {
    checkValid(what, caller);
    return combine::transformErrors(std::move(what), error);
}
/// Replaces the error `from` by `to`.
template <class T>
FLOW_INLINE Future<T> transformError(Future<T> what, Error from, Error to,
                                     std::source_location caller = std::source_location::current()) {
    checkValid(what, caller);
    return combine::transformError(std::move(what), from, to);
}

template <class T>
FLOW_INLINE Future<T> throwErrorOr(Future<ErrorOr<T>> what,
                                   std::source_location caller = std::source_location::current()) {
    checkValid(what, caller);
    return combine::throwErrorOr(std::move(what));
}

/// Returns the function's result for the value.
template <class F, class T>
FLOW_INLINE auto fmap(F function, Future<T> what, std::source_location caller = std::source_location::current())
    -> Future<std::remove_cvref_t<std::invoke_result_t<F&, T>>> {
    checkValid(what, caller);
    return combine::fmap(std::move(function), std::move(what));
}

template <class T>
Future<Void> setAfter(Reference<AsyncVar<T>> variable, double seconds, std::type_identity_t<T> value, Propagate = {}) {
    co_await delay(seconds);
    variable->set(value);
}
/// Sets the variable when the condition has ended, with a value or an error, but not after a cancel.
template <class T>
FLOW_INLINE Future<Void> setWhenDoneOrError(Future<Void> condition, Reference<AsyncVar<T>> variable,
                                            std::type_identity_t<T> value,
                                            std::source_location caller = std::source_location::current()) {
    checkValid(condition, caller);
    return combine::setWhenDoneOrError(std::move(condition), std::move(variable), std::move(value));
}

template <class T>
Future<Void> broadcast(Future<T> what, std::vector<Promise<T>> to,
                       std::source_location caller = std::source_location::current()) {
    checkValid(what, caller);
    return combine::broadcast(std::move(what), std::move(to));
}

/// Returns a delay that ends after all more urgent work.
inline Future<Void> lowPriorityDelay(double seconds) {
    return delay(seconds, TaskPriority::Low);
}

} // namespace flow
