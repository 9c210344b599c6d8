#pragma once
// stopAfter: runs a loop until an actor has ended.
//
//     Future<Void> main = stopAfter(serve());
//     loop.run();                                 // until serve() has ended
//     main.get();                                 // throws its error
//
// For programs that start several actors; for one, use loop.run(serve()). Dropping the result does not stop the loop.

#include "flow/coro/coroutine.h"

namespace flow {

namespace combine {
// The coroutines of the functions below. They have no parameter `caller`, which would enlarge the frames.

template <class T>
Future<T> stopAfter(Future<T> what) {
    ErrorOr<T> result = co_await tryGet(std::move(what));
    if (result.isError(error_code_actor_cancelled))
        co_await coro::fail(result.getError());
    Loop::current().stop();
    if (result.isError())
        co_await coro::fail(result.getError());
    if constexpr (!std::is_same_v<T, Void>)
        co_return std::move(result).get();
}
} // namespace combine

/// Returns the result of `what`. When it is ready, with a value or an error, the current loop stops.
template <class T>
FLOW_INLINE Future<T> stopAfter(Future<T> what, std::source_location caller = std::source_location::current()) {
    checkValid(what, caller);
    return combine::stopAfter(std::move(what));
}

} // namespace flow
