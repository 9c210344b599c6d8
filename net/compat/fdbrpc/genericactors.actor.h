#pragma once
// Functions that wait for replies, under the old header name; brokenPromiseToNever() is in genericactors.actor.h of
// flow.

#include "fdbrpc.h"
#include "../../../flow/compat/flow/genericactors.actor.h"

/// Returns the reply. If the server drops the request, sends the request again, a little later.
template <class Request>
flow::Future<flow::net::ReplyOf<Request>> retryBrokenPromise(flow::net::RequestStream<Request> to, Request request) {
    for (;;) {
        Request copy = request;
        resetReply(copy); // the request that stays here must not keep the promise
        auto reply = co_await flow::tryGet(to.getReply(std::move(copy)));
        if (!reply.isError(flow::error_code_broken_promise)) {
            if (reply.isError())
                throw reply.getError();
            co_return reply.get();
        }
        co_await flow::delayJittered(0.01);
    }
}

/// Returns the value or the error of `value`, or request_maybe_delivered if the signal comes first. If `value` fails
/// with broken_promise, notes that the endpoint has failed, and waits for the signal. `hold` is kept until the end.
template <class T>
flow::Future<flow::ErrorOr<T>> waitValueOrSignal(flow::Future<T> value, flow::Future<flow::Void> signal,
                                                 flow::net::Endpoint endpoint,
                                                 [[maybe_unused]] flow::net::ReplyPromise<T> hold = {}) {
    auto first = co_await flow::race(flow::errorOr(std::move(value)), flow::errorOr(signal));
    if (first.index() == 0) {
        flow::ErrorOr<T> result = std::get<0>(std::move(first));
        if (!result.isError(flow::error_code_broken_promise))
            co_return result;
        flow::net::FailureMonitor::failureMonitor().endpointNotFound(endpoint);
        (void)co_await flow::tryGet(std::move(signal));
    }
    co_return flow::ErrorOr<T>::failed(flow::request_maybe_delivered());
}
