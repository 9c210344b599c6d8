#pragma once
// Functions that keep an object as long as a future runs, or that change what cancels a future.
//
//     return holdWhile(buffer, read(buffer->data()));      // the buffer is kept as long as the read runs
//     wait(uncancellable(commit()));                       // the commit goes on if the waiting actor is cancelled
//     Future<int> mine = cancellable(shared);              // mine.cancel() leaves `shared` alone
//
// The returned future gets the value or the error of the given future. Cancel-safe: a cancel of the returned future
// also cancels the given one, unless the comment of the function says otherwise, and destroys the object that was held.

#include "flow/coro/coroutine.h"

namespace flow {

namespace combine {
// The coroutines of the functions below. They have no parameter `caller`, since it would enlarge their frames.

template <class T, class X>
Future<X> holdWhile([[maybe_unused]] T object, Future<X> what, Propagate = {}, ExplicitVoid = {}) {
    co_return co_await std::move(what);
}

template <class T, class X>
Future<Void> holdWhileVoid([[maybe_unused]] T object, Future<X> what, Propagate = {}) {
    (void)co_await std::move(what);
}

template <class T>
Future<T> runOn(Uncancellable, Future<T> what, Propagate = {}, ExplicitVoid = {}) {
    co_return co_await std::move(what);
}
} // namespace combine

/// Returns the result of `what`, and holds `object` until then. `object` is destroyed before the waiters of the result
/// run.
template <class T, class X>
FLOW_INLINE Future<X> holdWhile(T object, Future<X> what,
                                std::source_location caller = std::source_location::current()) {
    checkValid(what, caller);
    return combine::holdWhile(std::move(object), std::move(what));
}

/// Does the same as holdWhile(), but returns no value.
template <class T, class X>
FLOW_INLINE Future<Void> holdWhileVoid(T object, Future<X> what,
                                       std::source_location caller = std::source_location::current()) {
    checkValid(what, caller);
    return combine::holdWhileVoid(std::move(object), std::move(what));
}

/// Returns the result of `what`. Dropping or cancelling the returned future leaves `what` running to its end, even if
/// nothing else holds `what`.
template <class T>
Future<T> uncancellable(Future<T> what, std::source_location caller = std::source_location::current()) {
    checkValid(what, caller);
    return combine::runOn(Uncancellable(), std::move(what));
}

/// Returns the result of `what`, through a new future. Cancelling the new future fails it with actor_cancelled, even if
/// other code holds `what`, or `what` waits for something that cannot be cancelled.
template <class T>
Future<T> cancellable(Future<T> what, std::source_location caller = std::source_location::current()) {
    return holdWhile(Void(), std::move(what), caller);
}

} // namespace flow
