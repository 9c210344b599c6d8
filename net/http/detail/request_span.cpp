#include "net/http/detail/request_span.h"

#include "net/http/detail/syntax.h"

#include <algorithm>
#include <array>

namespace flow::net::http::detail {
namespace {

using trace::SpanContext;
using trace::SpanRef;

std::string stateOf(Headers const& headers) {
    std::string state;
    for (Headers::Field const& field : headers)
        if (isSameName(field.name, "tracestate"))
            state.append(state.empty() ? 0 : 1, ',').append(field.value);
    return state;
}

std::optional<SpanContext> parentOf(Headers const& headers, TraceFields const& fields) {
    if (!fields.hasParent || fields.hasSeveralParents)
        return {};
    std::string_view parent = headers.text().substr(fields.at, fields.size);
    if (fields.hasState) [[unlikely]]
        return SpanContext::parse(parent, stateOf(headers));
    return SpanContext::parse(parent);
}

/// Returns the method; "_OTHER" for one that is not known, since a client may send any word.
std::string_view knownMethod(std::string_view method) {
    static constexpr std::array<std::string_view, 9> kKnown = {"GET",     "HEAD",  "POST",  "PUT",    "DELETE",
                                                               "OPTIONS", "TRACE", "PATCH", "CONNECT"};
    return std::find(kKnown.begin(), kKnown.end(), method) != kKnown.end() ? method : "_OTHER";
}
/// Returns the beginning of a span's name.
std::string nameOf(std::string_view method) {
    std::string_view known = knownMethod(method);
    return std::string(known == "_OTHER" ? "HTTP" : known);
}

[[gnu::noinline]] void describe(Request const& request) {
    static constexpr std::array<char const*, 3> kVersions = {"1.0", "1.1", "2"};
    trace::spanOf(request.context)
        .name(nameOf(request.method))
        .attribute("http.request.method", knownMethod(request.method))
        .attribute("url.path", pathOfTarget(request.target))
        .attribute("url.scheme", request.tls ? "https" : "http")
        .attribute("network.protocol.version", kVersions[static_cast<std::size_t>(request.version)])
        .attribute("client.address", request.peer.hostToString());
}

} // namespace

void beginSpan(trace::Tracer& tracer, Request& request, TraceFields const& fields) {
    std::optional<SpanContext> parent = parentOf(request.headers, fields);
    request.context = tracer.open({}, trace::SpanKind::Server, parent ? &*parent : nullptr, request.context);
    request.exchange->context = request.context; // also without recording: the events of the log have the trace
    if (request.context.find(trace::kCurrentSpan)->recording) [[unlikely]]
        describe(request);
}

void endSpan(Exchange const& exchange, std::string_view method) {
    SpanRef span = trace::spanOf(exchange.context);
    if (!span.isRecording())
        return;
    if (!exchange.route.empty())
        span.name(nameOf(method) + " " + std::string(exchange.route)).attribute("http.route", exchange.route);
    if (exchange.status != 0)
        span.attribute("http.response.status_code", exchange.status);
    if (exchange.status == 0)
        span.error("the connection ended before the response");
    else if (exchange.status >= 500)
        span.attribute("error.type", std::to_string(exchange.status)).error(std::string_view());
    span.attribute("http.response.body.size", exchange.sent).end();
}

trace::Span beginClientSpan(Request& request, std::string_view url) {
    trace::Span span(request.context, nameOf(request.method), trace::SpanKind::Client);
    SpanContext const& context = span.context().find(trace::kCurrentSpan)->context;
    request.headers.set("traceparent", context.traceparent());
    request.headers.remove("tracestate");
    if (!context.state.empty())
        request.headers.add("tracestate", context.state);
    if (span.isRecording()) {
        std::string_view shown = url.substr(0, url.find_first_of("?#"));
        span.attribute("http.request.method", knownMethod(request.method));
        if (shown.find('@') == std::string_view::npos) // otherwise it may have a password
            span.attribute("url.full", shown);
    }
    return span;
}

void noteAnswer(trace::Span& span, Response const& response) {
    span.attribute("http.response.status_code", response.status);
    if (response.status >= 400)
        span.attribute("error.type", std::to_string(response.status)).error(std::string_view());
}

} // namespace flow::net::http::detail
