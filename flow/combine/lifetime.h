#pragma once
// How long an object lives with a future, and what may cancel the future.
//
//     return holdWhile(buffer, read(buffer->data()));      // the buffer is kept as long as the read runs
//     wait(uncancellable(commit()));                       // the commit goes on if the waiting actor is cancelled
//     Future<int> mine = cancellable(shared);              // mine.cancel() leaves `shared` alone
//
// Results and errors pass through. Cancel-safe: a cancel passes through too, unless a function says otherwise,
// and what was held is destroyed.

#include "flow/coro/coroutine.h"

namespace flow {

namespace combine {
// The coroutines of the functions below. Only those functions have the parameter `caller`, which would enlarge the
// frames.

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

/// The result of `what`; `object` is destroyed before the waiters of the result run.
template <class T, class X>
FLOW_INLINE Future<X> holdWhile(T object, Future<X> what,
                                std::source_location caller = std::source_location::current()) {
    checkValid(what, caller);
    return combine::holdWhile(std::move(object), std::move(what));
}

/// Like holdWhile(), without the value.
template <class T, class X>
FLOW_INLINE Future<Void> holdWhileVoid(T object, Future<X> what,
                                       std::source_location caller = std::source_location::current()) {
    checkValid(what, caller);
    return combine::holdWhileVoid(std::move(object), std::move(what));
}

/// The result of `what`. Dropping or cancelling it leaves `what` running to its end, even if nothing else holds it.
template <class T>
Future<T> uncancellable(Future<T> what, std::source_location caller = std::source_location::current()) {
    checkValid(what, caller);
    return combine::runOn(Uncancellable(), std::move(what));
}

/// The result of `what`, through a future of its own: cancelling that future fails it with actor_cancelled, even if
/// other code holds `what`, or `what` waits for something that cannot be cancelled.
template <class T>
Future<T> cancellable(Future<T> what, std::source_location caller = std::source_location::current()) {
    return holdWhile(Void(), std::move(what), caller);
}

} // namespace flow
