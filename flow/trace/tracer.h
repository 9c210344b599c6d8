#pragma once
// Tracer: begins the spans of requests, and gives ended spans to a receiver.
//
//     http::SpanExporter exporter({.service = "shop"});                       // net/http/span_exporter.h
//     trace::Tracer tracer(exporter, trace::Sampler::ratio(0.01).parentBased());
//     http::ServerOptions options;
//     options.tracer = &tracer;                                               // each request of a server has a span
//
// A program begins the span of work that comes from elsewhere itself:
//
//     trace::Span span = tracer.begin("nightly report");                      // a new trace
//     trace::Span span = tracer.begin("order", SpanKind::Consumer, SpanContext::parse(message.traceparent));
//     co_await handle(span.context(), message);
//
// The ids are random; in a simulation they are the same in each run of a seed. A trace that is not sampled has a
// context as well, with its ids, so that other services decide as this one did. The context costs one block of memory.
// The receiver must outlive the Tracer. Spans that outlive the Tracer are lost. A Tracer belongs to one thread, with
// its spans.

#include "flow/base/inline.h"
#include "flow/base/random.h"
#include "flow/trace/sampler.h"
#include "flow/trace/span.h"

#include <optional>

namespace flow::trace {

class Tracer : NonCopyable {
public:
    explicit Tracer(SpanReceiver& receiver, Sampler sampler = {});
    ~Tracer() { link_->tracer = nullptr; }

    /// Begins a span below `parent`, which comes from another process. Without a parent, begins the first span of a new
    /// trace. The span's context also has the values of `here`.
    Span begin(std::string_view name, SpanKind kind = SpanKind::Internal, std::optional<SpanContext> const& parent = {},
               RequestContext const& here = {}) {
        return Span(open(name, kind, parent ? &*parent : nullptr, here));
    }
    /// Begins a span that ends with spanOf(result).end(). `parent` may be null.
    FLOW_INLINE RequestContext open(std::string_view name, SpanKind kind, SpanContext const* parent,
                                    RequestContext const& here) {
        UID traceId = parent ? parent->traceId : UID(newId(), ids_.randomUInt64());
        if (sampler_.samples(parent, traceId)) [[unlikely]]
            return record(name, kind, {traceId, newId(), true, stateOf(parent)}, parent ? parent->spanId : 0, here);
        return here.withMade(kCurrentSpan, [&]() __attribute__((always_inline)) {
            return CurrentSpan{{traceId, newId(), false, stateOf(parent)}, nullptr};
        });
    }

private:
    friend class SpanRef;
    friend class Span;
    RequestContext record(std::string_view name, SpanKind kind, SpanContext context, std::uint64_t parentId,
                          RequestContext const& here);
    static std::string stateOf(SpanContext const* parent) {
        if (parent && !parent->state.empty()) [[unlikely]] // few have one, and the copy of an empty string is a call
            return parent->state;
        return {};
    }
    std::uint64_t newId() { return ids_.randomUInt64() | 1; }

    SpanReceiver& receiver_;
    Sampler sampler_;
    DeterministicRandom ids_;
    Reference<TracerLink> link_ = makeReference<TracerLink>();
};

} // namespace flow::trace
