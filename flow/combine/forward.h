#pragma once
// forwardPromise(): sends the result of a future on to a promise.
//
//     forwardPromise(reply, compute());          // the reply gets the value or the error
//     forwardPromise(results, compute());        // the stream gets one element, or ends with the error
//
// Each call holds the future and the promise until the result has come. It returns no future, so no code can cancel it.
// If the promise has been set by then, the result is ignored.

#include "flow/coro/coroutine.h"

namespace flow {

namespace combine {
template <class Result = coro::Detached, class Output, class T>
Result forwardTo(Output output, Future<T> input) {
    ErrorOr<T> result = co_await coro::tryKeeping(std::move(input));
    if constexpr (requires { output.canBeSet(); })
        if (!output.canBeSet())
            co_return;
    if (!result.isError()) {
        output.send(std::move(result).get());
        co_return;
    }
    Error error = result.getError();
    if constexpr (requires { output.canBeSet(); }) {
        detail::Cell* own = co_await coro::ownCell();
        if (detail::mayHaveException(error))
            detail::keepException(output.getFuture().cell(), error, detail::keptException(own, error));
    }
    output.sendError(error);
}
} // namespace combine

template <class T>
void forwardPromise(Promise<T> output, Future<T> input, std::source_location caller = std::source_location::current()) {
    checkValid(input, caller);
    combine::forwardTo(std::move(output), std::move(input));
}

template <class T>
void forwardPromise(PromiseStream<T> output, Future<T> input,
                    std::source_location caller = std::source_location::current()) {
    checkValid(input, caller);
    combine::forwardTo(std::move(output), std::move(input));
}

} // namespace flow
