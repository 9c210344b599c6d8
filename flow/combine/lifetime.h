#pragma once
// Functions that hold an object while a future runs, or that change what cancels a future.
//
//     return holdWhile(buffer, read(buffer->data()));      // holds the buffer until the read has ended
//     wait(uncancellable(commit()));                       // the commit continues if the waiting actor is cancelled
//     Future<int> mine = cancellable(shared);              // mine.cancel() does not cancel `shared`
//
// The returned future gets the result of the given future. Cancel-safe: unless the function says otherwise, cancelling
// the returned future also cancels the given future, and destroys the held object.

#include "flow/coro/coroutine.h"

namespace flow {

namespace combine {
// The coroutines of the functions below. A parameter `caller` would enlarge their frames.

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

/// Returns the result of `what`. Holds `object` until then, and destroys it before the waiters of the result run.
template <class T, class X>
FLOW_INLINE Future<X> holdWhile(T object, Future<X> what,
                                std::source_location caller = std::source_location::current()) {
    checkValid(what, caller);
    return combine::holdWhile(std::move(object), std::move(what));
}

/// Like holdWhile(), but returns no value.
template <class T, class X>
FLOW_INLINE Future<Void> holdWhileVoid(T object, Future<X> what,
                                       std::source_location caller = std::source_location::current()) {
    checkValid(what, caller);
    return combine::holdWhileVoid(std::move(object), std::move(what));
}

/// Returns the result of `what`. `what` runs to its end even if the returned future is dropped or cancelled.
template <class T>
Future<T> uncancellable(Future<T> what, std::source_location caller = std::source_location::current()) {
    checkValid(what, caller);
    return combine::runOn(Uncancellable(), std::move(what));
}

/// Returns the result of `what`. Cancelling the returned future fails it with actor_cancelled, even if other code holds
/// `what`, or `what` waits for something that cannot be cancelled.
template <class T>
Future<T> cancellable(Future<T> what, std::source_location caller = std::source_location::current()) {
    return holdWhile(Void(), std::move(what), caller);
}

} // namespace flow
