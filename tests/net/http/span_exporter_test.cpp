// The exporter of spans, beside collectors that answer, refuse, stall and die.
#include "net/http/span_exporter.h"

#include "flow/coro/coroutine.h"
#include "flow/sim/world.h"
#include "flow/trace/sink.h"
#include "flow/trace/tracer.h"
#include "flow/wait/delay.h"
#include "net/http/detail/otlp_json.h"
#include "net/http/server.h"
#include "net/sim/sim_network.h"
#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>

#include <limits>

using namespace flow;
using namespace flow::net;
using namespace flow::net::http;
using namespace flow::test;

namespace span_exporter_test {
namespace {

/// A collector, and what it has got.
struct Collector {
    std::vector<std::string> bodies; // of the requests that it has answered with 200
    std::vector<double> times;       // of all requests
    std::vector<Response> answers;   // the next ones; then 200
    bool stalls = false;

    std::size_t spans() const {
        std::size_t count = 0;
        for (std::string const& body : bodies)
            for (std::size_t at = 0; (at = body.find("\"spanId\"", at)) != std::string::npos; ++at)
                ++count;
        return count;
    }
};

Future<Response> collect(Request request, Collector* collector) {
    collector->times.push_back(now());
    CHECK(request.method == "POST");
    CHECK(request.target == "/v1/traces");
    CHECK(request.headers.get("Content-Type") == "application/json");
    if (collector->stalls)
        co_await Never();
    Future<std::string> reading = request.body.text(10 << 20);
    std::string body = co_await std::move(reading);
    Response response;
    response.headers.set("Content-Type", "application/json");
    response.body = std::string("{}");
    if (!collector->answers.empty()) {
        response = std::move(collector->answers.front());
        collector->answers.erase(collector->answers.begin());
    }
    if (response.status == 200)
        collector->bodies.push_back(std::move(body));
    co_return std::move(response);
}

using Test = Future<Void> (*)(World* world, Process* server, Collector* collector, SpanExporterOptions options);

/// Runs the test in a process, beside another one with a collector.
void besideCollector(Test test, SpanExporterOptions options = {}) {
    Balance balance;
    Collector collector;
    {
        World world(1);
        SimNetwork network(world, {.latency = 0.001});
        auto serveCollector = [&collector] {
            Handler handler = [&collector](Request request) { return collect(std::move(request), &collector); };
            return http::serve(transport().listen(4318), handler, {.bodyBytes = 10 << 20}, Never());
        };
        Process& server = world.start({.name = "collector", .main = serveCollector});
        options.url = "http://" + Address(server.address(), 4318).toString() + "/v1/traces";
        auto run = [&] { return test(&world, &server, &collector, options); };
        Process& process = world.start({.name = "program", .main = run});
        world.run(process.onStop());
        CHECK(process.exit() == Error());
    }
}

void record(trace::Tracer& tracer, int count) {
    for (int i = 0; i < count; ++i)
        trace::Span span = tracer.begin("span " + std::to_string(i));
}

Response answerOf(int status, Headers headers = {}, std::string body = {}) {
    Response response;
    response.status = status;
    response.headers = std::move(headers);
    response.body = std::move(body);
    return response;
}

} // namespace

TEST_CASE("span exporter: a batch is sent when it is full, and otherwise after a time") {
    besideCollector(
        [](World*, Process*, Collector* collector, SpanExporterOptions options) -> Future<Void> {
            SpanExporter exporter(options);
            trace::Tracer tracer(exporter);
            double begin = now();
            record(tracer, 25);
            co_await delay(0.1);
            CHECK(collector->bodies.size() == 2);
            CHECK(collector->spans() == 20);
            co_await delay(3.0);
            CHECK(collector->spans() == 25);
            CHECK(collector->times.at(2) - begin > 1.9);
            CHECK(collector->times.at(2) - begin < 2.2);
            CHECK(exporter.exported() == 25);
            CHECK(exporter.waiting() == 0);
            CHECK(exporter.dropped() + exporter.failed() == 0);
            CHECK(collector->bodies[0].find(R"({"key":"service.name","value":{"stringValue":"shop"}})") !=
                  std::string::npos);
        },
        {.service = "shop", .batch = 10, .interval = 2});
}

TEST_CASE("span exporter: flush() sends what is there, and is bounded in time") {
    besideCollector([](World*, Process*, Collector* collector, SpanExporterOptions options) -> Future<Void> {
        SpanExporter exporter(options);
        trace::Tracer tracer(exporter);
        bool isDone = co_await exporter.flush(1.0);
        CHECK(isDone);
        record(tracer, 3);
        double begin = now();
        isDone = co_await exporter.flush(1.0);
        CHECK(isDone);
        CHECK(now() - begin < 0.1);
        CHECK(collector->spans() == 3);
        collector->stalls = true;
        record(tracer, 3);
        begin = now();
        isDone = co_await exporter.flush(1.5);
        CHECK_FALSE(isDone);
        CHECK(now() - begin == doctest::Approx(1.5));
        CHECK(exporter.waiting() == 3);
        Future<bool> cancelled = exporter.flush(100);
        cancelled.cancel();
    });
}

TEST_CASE("span exporter: while the collector stalls, the queue fills, and then spans are dropped and counted") {
    besideCollector(
        [](World*, Process*, Collector* collector, SpanExporterOptions options) -> Future<Void> {
            SpanExporter exporter(options);
            trace::Tracer tracer(exporter);
            collector->stalls = true;
            record(tracer, 10);
            co_await delay(0.5); // the batch is on its way
            record(tracer, 35);
            CHECK(exporter.waiting() == 30);
            CHECK(exporter.dropped() == 15);
            collector->stalls = false;
            bool isDone = co_await exporter.flush(60);
            CHECK(isDone);
            CHECK(collector->spans() == 30);
            CHECK(exporter.exported() == 30);
        },
        {.queue = 20, .batch = 10, .timeout = 2});
}

TEST_CASE("span exporter: a temporary refusal is sent again, when the collector says") {
    besideCollector([](World*, Process*, Collector* collector, SpanExporterOptions options) -> Future<Void> {
        SpanExporter exporter(options);
        trace::Tracer tracer(exporter);
        collector->answers.push_back(answerOf(503, {{"Retry-After", "7"}}));
        collector->answers.push_back(answerOf(429, {{"Retry-After", "Wed, 01 Jan 2020 00:00:30 GMT"}}));
        collector->answers.push_back(answerOf(502, {{"Retry-After", "1000000"}}));
        collector->answers.push_back(answerOf(504, {{"Retry-After", "nonsense"}}));
        record(tracer, 2);
        bool isDone = co_await exporter.flush(120);
        CHECK(isDone);
        CHECK(collector->spans() == 2);
        CHECK(exporter.exported() == 2);
        std::vector<double> const& times = collector->times;
        REQUIRE(times.size() == 5);
        CHECK(times[1] - times[0] == doctest::Approx(7).epsilon(0.01));
        CHECK(times[2] == doctest::Approx(30).epsilon(0.01));
        CHECK(times[3] - times[2] == doctest::Approx(30).epsilon(0.01)); // RetryPolicy::longest
        CHECK(times[4] - times[3] < 10);
    });
}

TEST_CASE("span exporter: other refusals drop the batch, and the next one is sent") {
    besideCollector([](World*, Process*, Collector* collector, SpanExporterOptions options) -> Future<Void> {
        TraceMemory log;
        SpanExporter exporter(options);
        trace::Tracer tracer(exporter);
        collector->answers.push_back(answerOf(400));
        record(tracer, 2);
        bool isDone = co_await exporter.flush(1.0);
        CHECK(isDone);
        CHECK(exporter.failed() == 2);
        collector->answers.push_back(answerOf(200, {}, R"({"partialSuccess": {"rejectedSpans" : "3"}})"));
        record(tracer, 5);
        isDone = co_await exporter.flush(1.0);
        CHECK(isDone);
        CHECK(exporter.failed() == 5);
        CHECK(exporter.exported() == 2);
        REQUIRE(log.lines().size() == 1);
        CHECK(log.lines()[0].find("the collector has answered with the status 400") != std::string::npos);
    });
}

TEST_CASE("span exporter: a collector that is killed gets the spans when it is back; without it they fail") {
    besideCollector(
        [](World* world, Process* server, Collector* collector, SpanExporterOptions options) -> Future<Void> {
            SpanExporter exporter(options);
            trace::Tracer tracer(exporter);
            record(tracer, 1);
            bool isDone = co_await exporter.flush(1.0);
            CHECK(isDone);
            world->reboot(*server, 2.0);
            co_await delay(0.1);
            record(tracer, 2);
            isDone = co_await exporter.flush(60);
            CHECK(isDone);
            CHECK(collector->spans() == 3);
            world->kill(*server);
            co_await delay(0.1);
            record(tracer, 4);
            isDone = co_await exporter.flush(60);
            CHECK(isDone);
            CHECK(exporter.failed() == 4);
            CHECK(exporter.exported() == 3);
        },
        {.interval = 0});
}

TEST_CASE("span exporter: an exporter that ends, and one in a process that is killed, leave nothing") {
    besideCollector([](World*, Process*, Collector* collector, SpanExporterOptions options) -> Future<Void> {
        for (double seconds : {0.0, 0.0005, 0.0015, 0.0025, 1.0}) {
            SpanExporter exporter(options);
            trace::Tracer tracer(exporter);
            collector->stalls = seconds == 1.0;
            record(tracer, 1);
            Future<bool> flushing = exporter.flush(10);
            co_await delay(seconds);
        }
    });
}

TEST_CASE("span exporter: wrong options are refused with a sentence") {
    SpanExporterOptions batch, queue, interval, timeout, url;
    batch.batch = 0;
    queue.queue = 1;
    interval.interval = -1;
    timeout.timeout = std::numeric_limits<double>::quiet_NaN();
    url.url = "collector";
    std::pair<SpanExporterOptions, char const*> wrong[] = {
        {batch, "batch"}, {queue, "queue"}, {interval, "interval"}, {timeout, "timeout"}, {url, "collector"}};
    for (auto const& [options, name] : wrong) {
        std::string text;
        try {
            SpanExporter exporter(options);
        } catch (Error& error) {
            text = error.what();
        }
        INFO(name << ": " << text);
        CHECK(text.find(name) != std::string::npos);
    }
}

TEST_CASE("otlp: the JSON of a span with all that it can have") {
    trace::SpanData span;
    span.context.traceId = UID(0x4bf92f3577b34da6, 0xa3ce929d0e0e4736);
    span.context.spanId = 0xf067aa0ba902b7;
    span.context.state = "a=1";
    span.parentId = 7;
    span.name = "GET \"/\"";
    span.kind = trace::SpanKind::Server;
    span.begin = 1577836800000000001;
    span.end = 1577836801000000000;
    span.attributes = {{"text", "a\n\xff"},
                       {"number", -7},
                       {"real", 0.5},
                       {"flag", false},
                       {"none", std::numeric_limits<double>::infinity()}};
    span.events = {{"read", 1577836800500000000, {{"bytes", std::uint64_t(5)}}}};
    span.droppedAttributes = 2;
    span.status = trace::SpanStatus::Error;
    span.message = "io_error";
    std::string text = flow::net::http::detail::otlpHead({{"service.name", "shop"}});
    flow::net::http::detail::appendOtlp(text, span);
    text += flow::net::http::detail::kOtlpEnd;
    CHECK(
        text ==
        R"({"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},)"
        R"("scopeSpans":[{"scope":{"name":"millrace"},"spans":[{"traceId":"4bf92f3577b34da6a3ce929d0e0e4736",)"
        R"("spanId":"00f067aa0ba902b7","parentSpanId":"0000000000000007","traceState":"a=1","name":"GET \"/\"",)"
        R"("kind":2,"startTimeUnixNano":"1577836800000000001","endTimeUnixNano":"1577836801000000000",)"
        R"("attributes":[{"key":"text","value":{"stringValue":"a\n\ufffd"}},{"key":"number","value":{"intValue":"-7"}},)"
        R"({"key":"real","value":{"doubleValue":0.5}},{"key":"flag","value":{"boolValue":false}},)"
        R"({"key":"none","value":{"doubleValue":"Infinity"}}],"droppedAttributesCount":2,)"
        R"("events":[{"timeUnixNano":"1577836800500000000","name":"read",)"
        R"("attributes":[{"key":"bytes","value":{"intValue":"5"}}]}],"status":{"code":2,"message":"io_error"}}]}]}]})");
}

TEST_CASE("otlp: the number of refused spans in an answer") {
    using flow::net::http::detail::rejectedSpans;
    CHECK(rejectedSpans("") == 0);
    CHECK(rejectedSpans("{}") == 0);
    CHECK(rejectedSpans(R"({"partialSuccess":{"rejectedSpans":"12","errorMessage":"x"}})") == 12);
    CHECK(rejectedSpans(R"({"rejectedSpans": 3})") == 3);
    CHECK(rejectedSpans(R"({"rejectedSpans")") == 0);
    CHECK(rejectedSpans(R"({"rejectedSpans":"-1")") == 0);
    CHECK(rejectedSpans(R"({"rejectedSpans":"99999999999999999999999")") == 0);
}

} // namespace span_exporter_test
