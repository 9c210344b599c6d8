#pragma once
// How long things live with a future, and what may cancel it.
//
//     return holdWhile(buffer, read(buffer->data()));      // the buffer is kept as long as the read runs
//     wait(uncancellable(commit()));                       // the commit goes on if the waiting actor is cancelled
//     Future<int> mine = cancellable(shared);              // mine.cancel() leaves `shared` alone
//
// Results and errors pass through. Cancel-safe: a cancel passes through too, unless a function says otherwise,
// and what was held is destroyed.

#include "flow/coro/coroutine.h"

namespace flow {

namespace lib {
// The coroutines of the functions below. Those take their caller, which would make the frames larger.

template <class T, class X>
Future<X> holdWhile([[maybe_unused]] T object, Future<X> what, Propagate = {}) {
    if constexpr (std::is_same_v<X, Void>)
        co_await std::move(what);
    else
        co_return co_await std::move(what);
}

template <class T, class X>
Future<Void> holdWhileVoid([[maybe_unused]] T object, Future<X> what, Propagate = {}) {
    (void)co_await std::move(what);
}

template <class T>
Future<T> runOn(Uncancellable, Future<T> what, Propagate = {}) {
    if constexpr (std::is_same_v<T, Void>)
        co_await std::move(what);
    else
        co_return co_await std::move(what);
}
} // namespace lib

/// The same result; `object` is destroyed before its waiters run.
template <class T, class X>
FLOW_INLINE Future<X> holdWhile(T object, Future<X> what,
                                std::source_location caller = std::source_location::current()) {
    checkValid(what, caller);
    return lib::holdWhile(std::move(object), std::move(what));
}

/// The same without the value.
template <class T, class X>
FLOW_INLINE Future<Void> holdWhileVoid(T object, Future<X> what,
                                       std::source_location caller = std::source_location::current()) {
    checkValid(what, caller);
    return lib::holdWhileVoid(std::move(object), std::move(what));
}

/// The same result. Dropping or cancelling it leaves `what` running to its end, even if nothing else holds it.
template <class T>
Future<T> uncancellable(Future<T> what, std::source_location caller = std::source_location::current()) {
    checkValid(what, caller);
    return lib::runOn(Uncancellable(), std::move(what));
}

/// The same result, through a future of its own: cancelling that fails it with actor_cancelled, whatever else holds
/// `what` and even if what stands behind `what` cannot be cancelled.
template <class T>
Future<T> cancellable(Future<T> what, std::source_location caller = std::source_location::current()) {
    return holdWhile(Void(), std::move(what), caller);
}

} // namespace flow
