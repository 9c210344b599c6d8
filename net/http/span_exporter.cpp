#include "net/http/span_exporter.h"

#include "flow/base/format.h"
#include "flow/base/parse_number.h"
#include "flow/combine/race.h"
#include "flow/combine/timeout.h"
#include "flow/coro/coroutine.h"
#include "flow/trace/trace_event.h"
#include "flow/wait/delay.h"
#include "net/http/detail/dates.h"
#include "net/http/detail/otlp_json.h"

#include <algorithm>
#include <array>
#include <new>

namespace flow::net::http {
namespace {

constexpr std::size_t kSpansOfStep = 16;      // the most spans that one step of the loop makes into text
constexpr std::size_t kAnswerBytes = 1 << 16; // so much of the collector's answer is read

SpanExporterOptions checked(SpanExporterOptions options) {
    auto check = [](bool isValid, char const* option, std::string const& value, char const* rule) {
        if (!isValid)
            throw wrongOption("SpanExporterOptions", option, value, rule);
    };
    check(options.batch != 0, "batch", "0", "it must be at least 1");
    check(options.queue >= options.batch, "queue", std::to_string(options.queue), "it must be at least `batch`");
    check(options.interval >= 0, "interval", format("%g", double(options.interval)), "it must not be negative");
    check(options.timeout > 0, "timeout", format("%g", double(options.timeout)), "it must be more than 0");
    options.retry.check();
    Url::parse(options.url);
    options.headers.set("Content-Type", "application/json");
    options.resource.insert(options.resource.begin(), {"service.name", options.service});
    return options;
}

/// Returns the wait in seconds that the collector asks for in Retry-After; nothing if the field is absent or invalid.
std::optional<double> secondsToWait(Response const& response) {
    std::optional<std::string_view> text = response.headers.find("Retry-After");
    if (!text)
        return {};
    if (auto seconds = parseNumber<std::uint32_t>(*text))
        return *seconds;
    std::optional<std::int64_t> date = detail::parseHttpDate(*text);
    return date ? std::optional(std::max(0.0, static_cast<double>(*date) - wallTime())) : std::nullopt;
}

bool isTemporary(int status) {
    static constexpr std::array<int, 4> kStatuses = {429, 502, 503, 504};
    return std::find(kStatuses.begin(), kStatuses.end(), status) != kStatuses.end();
}

} // namespace

SpanExporter::SpanExporter(SpanExporterOptions options)
    : options_(checked(std::move(options))), client_(options_.client),
      exported_("millrace_spans_exported_total", "Spans that the collector has taken."),
      dropped_("millrace_spans_dropped_total", "Spans that were dropped, since the queue was full."),
      failed_("millrace_spans_failed_total", "Spans that could not be sent, or that the collector has refused."),
      running_(run(this)) {}

void SpanExporter::take(trace::SpanData&& span) noexcept {
    if (queue_.size() >= options_.queue)
        return dropped_.add();
    try {
        queue_.push_back(std::move(span));
    } catch (std::bad_alloc const&) {
        return dropped_.add();
    }
    ++taken_;
    if (queue_.size() == 1 || queue_.size() == options_.batch)
        changed_.trigger();
}

Future<Void> SpanExporter::run(SpanExporter* self) {
    for (;;) {
        while (self->queue_.empty()) {
            auto change = self->changed_.next();
            co_await change;
        }
        double until = now() + double(self->options_.interval);
        while (self->queue_.size() < self->options_.batch && self->taken_ - self->queue_.size() >= self->flushUntil_) {
            auto change = self->changed_.next();
            auto first = co_await race(change, delayUntil(until));
            if (first.index() == 1)
                break;
        }
        try {
            Future<std::string> making = textOf(self);
            std::string text = co_await std::move(making);
            Future<Void> sending = send(self, std::move(text));
            co_await std::move(sending);
        } catch (std::bad_alloc const&) {
            self->failed_.add(self->sending_);
        }
        self->sending_ = 0;
        self->changed_.trigger();
    }
}

Future<std::string> SpanExporter::textOf(SpanExporter* self) {
    std::string text = detail::otlpHead(self->options_.resource);
    for (std::size_t left = std::min(self->queue_.size(), self->options_.batch); left != 0; --left) {
        detail::appendOtlp(text, self->queue_.front());
        self->queue_.pop_front();
        if (++self->sending_ % kSpansOfStep == 0)
            co_await delay(0);
    }
    text += detail::kOtlpEnd;
    co_return std::move(text);
}

Future<Response> SpanExporter::ask(SpanExporter* self, std::string text) {
    Request request;
    request.method = "POST";
    request.headers = self->options_.headers;
    request.body = std::move(text);
    return self->client_.send(std::move(request), self->options_.url);
}

/// Sends a batch. Sends it again after a temporary failure. Counts its spans.
Future<Void> SpanExporter::send(SpanExporter* self, std::string text) {
    RetryPolicy const& policy = self->options_.retry;
    std::string why;
    for (int failed = 1;; ++failed) {
        std::optional<double> wanted;
        try {
            Future<Response> asking = ask(self, text);
            Future<Response> answering = timeoutError(std::move(asking), self->options_.timeout);
            Response response = co_await std::move(answering);
            Future<std::string> reading = response.body.text(kAnswerBytes);
            Future<std::string> answer = timeoutError(std::move(reading), self->options_.timeout);
            if (response.status / 100 == 2) {
                ErrorOr<std::string> body = co_await tryGet(std::move(answer));
                std::uint64_t rejected = body.isError() ? 0 : detail::rejectedSpans(body.get());
                rejected = std::min<std::uint64_t>(rejected, self->sending_);
                self->failed_.add(rejected);
                self->exported_.add(self->sending_ - rejected);
                co_return;
            }
            (void)co_await tryGet(std::move(answer)); // so that the connection can be kept
            why = format("the collector has answered with the status %d", response.status);
            if (!isTemporary(response.status))
                break;
            wanted = secondsToWait(response);
        } catch (Error& error) {
            if (error == actor_cancelled())
                throw;
            why = error.what();
        }
        if (failed >= policy.attempts)
            break;
        double seconds = wanted ? std::min(*wanted, double(policy.longest)) : policy.secondsAfter(failed);
        co_await delay(seconds);
    }
    self->failed_.add(self->sending_);
    TraceEvent(SevWarn, "SpansNotExported").detail("Spans", self->sending_).detail("Why", why).suppressFor(60);
}

Future<bool> SpanExporter::flush(Seconds atMost) {
    return flush(this, atMost);
}

Future<bool> SpanExporter::flush(SpanExporter* self, double seconds) {
    double until = now() + seconds;
    std::uint64_t last = self->taken_;
    self->flushUntil_ = std::max(self->flushUntil_, last);
    self->changed_.trigger();
    for (;;) {
        auto change = self->changed_.next();
        if (self->taken_ - self->waiting() >= last)
            co_return true;
        auto first = co_await race(change, delayUntil(until));
        if (first.index() == 1)
            co_return false;
    }
}

} // namespace flow::net::http
