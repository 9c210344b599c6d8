#pragma once
// The spans of requests, at servers and at clients. Attributes have the names of OpenTelemetry's conventions for HTTP;
// queries are left out, since they may have secrets.

#include "net/http/client.h"
#include "net/http/detail/trace_fields.h"
#include "net/http/server.h"

namespace flow::net::http::detail {

/// Begins the span of a request that has come, below the client's span. The contexts of the request and of its exchange
/// have the new span. Several fields traceparent, or one that breaks a rule, count as none.
void beginSpan(trace::Tracer& tracer, Request& request, TraceFields const& fields);
/// Ends the span, when the exchange is over.
void endSpan(Exchange const& exchange, std::string_view method);

/// True if the request belongs to a trace, which the server must be told.
inline bool hasSpan(Request const& request) {
    return !request.context.isEmpty() && request.context.find(trace::kCurrentSpan);
}
/// Begins the span of a request that a client sends, and sets the fields by which the server learns of it.
trace::Span beginClientSpan(Request& request, std::string_view url);
void noteAnswer(trace::Span& span, Response const& response);

} // namespace flow::net::http::detail
