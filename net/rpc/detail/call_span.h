#pragma once
// The spans of calls: one at the client and one at the server, for requests with a RequestContext that has a span. Only
// net/rpc uses this file.

#include "flow/core/error_or.h"
#include "flow/coro/coroutine.h"
#include "flow/trace/tracer.h"

namespace flow::net::rpc {

/// Returns the context of a request that has come from another process.
inline RequestContext contextOf(trace::SpanContext const& sent) {
    return RequestContext().with(trace::kCurrentSpan, {sent, nullptr});
}

/// Begins the span of a handler. `here` has the client's span, of this process or another one, or no span.
inline trace::Span beginCallSpan(trace::Tracer& tracer, std::string_view name, RequestContext const& here) {
    trace::CurrentSpan const* current = here.find(trace::kCurrentSpan);
    if (current && current->recording) // the client is in this process
        return trace::Span(here, name, trace::SpanKind::Server);
    return tracer.begin(name, trace::SpanKind::Server, current ? std::optional(current->context) : std::nullopt, here);
}

/// Ends the span when the result is ready.
template <class T>
Future<T> inSpan(Future<T> result, trace::Span span, ExplicitVoid = {}) {
    ErrorOr<T> got = co_await coro::tryKeeping(std::move(result));
    if (got.isError()) {
        span.error(got.getError());
        co_await coro::fail(got.getError());
    }
    co_return std::move(got).get();
}
template <class T>
Future<ErrorOr<T>> inSpan(Future<ErrorOr<T>> result, trace::Span span) {
    ErrorOr<T> got = co_await std::move(result);
    if (got.isError())
        span.error(got.getError());
    co_return std::move(got);
}
template <class T>
Future<T> inSpanIfRecording(Future<T> result, trace::Span span) {
    return span.isRecording() ? inSpan(std::move(result), std::move(span)) : std::move(result);
}

} // namespace flow::net::rpc
