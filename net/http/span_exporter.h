#pragma once
// SpanExporter: sends spans to a collector, in OTLP: JSON over HTTP.
//
//     http::SpanExporter exporter({.url = "http://collector:4318/v1/traces", .service = "shop"});
//     trace::Tracer tracer(exporter, trace::Sampler::ratio(0.01).parentBased());
//     http::ServerOptions options{.tracer = &tracer};
//     co_await http::serve(listener, router, options, stop);
//     co_await exporter.flush(5.0);                                 // sends the last spans; false if some are left
//
// A span that ends is put into a queue; the request waits for nothing else. A coroutine of the exporter sends the
// queue, `batch` spans at a time: as soon as the queue has so many spans, or else `interval` after its first span. If
// the collector is slow or away, the queue fills up to `queue` spans, and further spans are dropped and counted. The
// text of a batch is made a few spans at a time, between the other steps of the loop.
//
// A batch is sent again after an error of the connection, a timeout, and the status 429, 502, 503 or 504. The exporter
// waits before that as `retry` says, or as long as the collector says in Retry-After, at most `retry.longest`. Another
// status, or the last failure, drops the batch: its spans count as failed, and a TraceEvent "SpansNotExported" has the
// reason, at most one a minute.
//
// On the page for Prometheus (flow/trace/metrics.h):
//     millrace_spans_exported_total     the collector has taken them
//     millrace_spans_dropped_total      the queue was full
//     millrace_spans_failed_total       the collector has refused them, or could not be reached
//
// The requests of the exporter have no spans. An exporter belongs to the thread of its loop, and must outlive its
// tracers. Make it while the loop exists. Its destructor drops the unsent spans. flush() is cancel-safe.

#include "flow/combine/retry.h"
#include "flow/sync/trigger.h"
#include "flow/trace/metrics.h"
#include "flow/trace/span.h"
#include "net/http/client.h"

#include <deque>

namespace flow::net::http {

struct SpanExporterOptions {
    std::string url = "http://127.0.0.1:4318/v1/traces";
    std::string service = "unknown_service";     // the attribute "service.name"
    std::vector<trace::Attribute> resource = {}; // further attributes, such as "service.version"
    Headers headers = {};                        // such as a token
    std::size_t queue = 2048;                    // the most spans that wait; at least `batch`
    std::size_t batch = 512;                     // the most spans of a request
    Seconds interval = 5;                        // from the first span that waits to its request
    Seconds timeout = 10;                        // for a request and its answer
    RetryPolicy retry = {.backoff = 1};          // of a batch
    ClientOptions client = {.connections = 1};   // such as `encrypt`, for https
};

class SpanExporter final : public trace::SpanReceiver {
public:
    /// Throws invalid_option_value, or connection_string_invalid for the URL.
    explicit SpanExporter(SpanExporterOptions options = {});
    SpanExporter(SpanExporter const&) = delete;
    SpanExporter& operator=(SpanExporter const&) = delete;
    ~SpanExporter() = default;

    void take(trace::SpanData&& span) noexcept override;
    /// Sends all spans that have ended so far, without waiting for a full batch. Returns false if some of them are
    /// still unsent after `atMost` seconds, otherwise true, even if the collector has refused them.
    Future<bool> flush(Seconds atMost);

    std::size_t waiting() const { return queue_.size() + sending_; }
    std::uint64_t exported() const { return exported_.value(); }
    std::uint64_t dropped() const { return dropped_.value(); }
    std::uint64_t failed() const { return failed_.value(); }

private:
    static Future<Void> run(SpanExporter* self);
    static Future<Void> send(SpanExporter* self, std::string text);
    static Future<Response> ask(SpanExporter* self, std::string text);
    static Future<std::string> textOf(SpanExporter* self);
    static Future<bool> flush(SpanExporter* self, double seconds);

    SpanExporterOptions options_;
    Client client_;
    std::deque<trace::SpanData> queue_;
    std::size_t sending_ = 0;                  // the spans of the batch that is on its way
    std::uint64_t taken_ = 0, flushUntil_ = 0; // numbers of spans that were put into the queue
    Trigger changed_;                          // the queue, flushUntil_ or sending_
    metrics::Counter exported_, dropped_, failed_;
    Future<Void> running_;
};

} // namespace flow::net::http
