#pragma once
// Functions that wait for replies, under the old header name; flow's header of this name has brokenPromiseToNever().

#include "../../../flow/compat/flow/genericactors.h"
#include "../../rpc/request_stream.h"
#include "FailureMonitor.h"

/// Returns the reply. Whenever the server drops the request, sends it again a little later.
template <class Request>
flow::Future<flow::net::ReplyOf<Request>> retryBrokenPromise(flow::net::RequestStream<Request> to, Request request,
                                                             flow::Propagate = {}, ExplicitVoid = {}) {
    for (;;) {
        Request copy = request;
        flow::net::resetReply(copy); // else `request` would share the promise, and keep it from breaking
        auto reply = to.getReply(std::move(copy));
        auto result = co_await flow::coro::outcome(reply);
        if (!result.isError(flow::error_code_broken_promise))
            co_return co_await std::move(reply);
        co_await flow::delayJittered(0.01);
    }
}

/// Returns the value or the error of `value`, or request_maybe_delivered if the signal comes first. If `value` fails
/// with broken_promise, reports the endpoint as failed, and waits for the signal. Holds `hold` until the end.
template <class T>
flow::Future<flow::ErrorOr<T>>
waitValueOrSignal(flow::Future<T> value, flow::Future<flow::Void> signal, flow::net::Endpoint endpoint,
                  [[maybe_unused]] flow::net::ReplyPromise<T> hold = {}, flow::Propagate = {}) {
    auto first = co_await flow::race(flow::errorOr(std::move(value)), flow::errorOr(signal));
    if (first.index() == 0) {
        flow::ErrorOr<T> result = std::get<0>(std::move(first));
        if (!result.isError(flow::error_code_broken_promise))
            co_return result;
        flow::net::FailureMonitor::failureMonitor().endpointNotFound(endpoint);
        (void)co_await flow::coro::outcome(std::move(signal));
    }
    co_return flow::ErrorOr<T>::failed(flow::request_maybe_delivered());
}

#include "fdbrpc.h" // Flow's header includes it, too; last, because fdbrpc.h includes this file
