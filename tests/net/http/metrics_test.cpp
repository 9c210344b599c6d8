#include "net/http/metrics.h"

#include "flow/coro/coroutine.h"
#include "flow/sim/sim_loop.h"
#include "flow/trace/sink.h"
#include "net/http/router.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/plain_event.h"
#include "tests/net/http/http_support.h"
#include "tests/net/serve_suite.h"

#include <doctest/doctest.h>

#include <string>

using namespace flow;
using namespace flow::net;
using namespace flow::net::http;

namespace http_metrics_test {
namespace {

bool has(std::string const& page, std::string const& line) {
    return page.find(line + "\n") != std::string::npos;
}

Exchange exchangeOf(char const* route, int status, double seconds) {
    Exchange exchange;
    exchange.method = "GET";
    exchange.target = "/jobs/7?x=\"1\"";
    exchange.route = route;
    exchange.status = status;
    exchange.seconds = seconds;
    exchange.received = 5;
    exchange.sent = 100;
    return exchange;
}

} // namespace

TEST_CASE("http metrics: the page has requests by route and status, times, bytes, and what is now") {
    test::Balance balance;
    {
        ServerMetrics one({.server = "a", .bounds = {0.001, 0.1}}), other({.server = "a", .bounds = {0.001, 0.1}});
        ServerOptions options, others;
        int called = 0;
        options.onEnd = [&](Exchange const&) { ++called; };
        one.watch(options);
        other.watch(others);
        options.onEnd(exchangeOf("/jobs/{id}", 200, 0.002));
        options.onEnd(exchangeOf("/jobs/{id}", 200, 0.0005));
        options.onEnd(exchangeOf("/jobs/{id}", 404, 1));
        options.onEnd(exchangeOf("", 400, 0));
        others.onEnd(exchangeOf("/jobs/{id}", 200, 0));
        options.counters->inFlight = 2;
        others.counters->inFlight = 3;
        others.counters->open = 9;
        CHECK(called == 4);
        std::string page = metrics::text(), job = "{server=\"a\",route=\"/jobs/{id}\",";
        CHECK(has(page, "millrace_http_requests_total" + job + "status=\"200\"} 3"));
        CHECK(has(page, "millrace_http_requests_total" + job + "status=\"404\"} 1"));
        CHECK(has(page, "millrace_http_requests_total{server=\"a\",route=\"\",status=\"400\"} 1"));
        CHECK(has(page, "millrace_http_request_seconds_bucket" + job + "le=\"0.001\"} 2"));
        CHECK(has(page, "millrace_http_request_seconds_bucket" + job + "le=\"0.1\"} 3"));
        CHECK(has(page, "millrace_http_request_seconds_count{server=\"a\",route=\"/jobs/{id}\"} 4"));
        CHECK(has(page, "millrace_http_requests_in_flight{server=\"a\"} 5"));
        CHECK(has(page, "millrace_http_connections{server=\"a\"} 9"));
        CHECK(has(page, "millrace_http_received_bytes_total{server=\"a\"} 25"));
        CHECK(has(page, "millrace_http_sent_bytes_total{server=\"a\"} 500"));
    }
    CHECK(metrics::text().find("millrace_http") == std::string::npos);
}

TEST_CASE("http metrics: the access log has an event for each request, if it is asked for") {
    TraceMemory trace;
    ServerOptions options, silent;
    ServerMetrics logging({.server = "a", .accessLog = true}), other;
    logging.watch(options);
    other.watch(silent);
    silent.onEnd(exchangeOf("/jobs/{id}", 200, 0.25));
    CHECK(trace.lines().empty());
    options.onEnd(exchangeOf("/jobs/{id}", 200, 0.25));
    REQUIRE(trace.lines().size() == 1);
    CHECK(test::plainEvent(trace.lines()[0]) ==
          "{\"Severity\":10,\"Type\":\"HttpRequest\",\"Server\":\"a\",\"Peer\":\"\",\"Method\":\"GET\","
          "\"Target\":\"/jobs/7?x=\\\"1\\\"\",\"Status\":200,\"Seconds\":0.25,\"Received\":5,\"Sent\":100}");
}

namespace {

Future<Void> watchAServer() {
    ServerMetrics metrics({.server = "b"});
    ServerOptions options;
    metrics.watch(options);
    Router router;
    router.add("POST", "/jobs/{id}", test::repeat);
    Reference<Listener> listener = transport().listen(transport().localAddress());
    Future<Void> serving = serve(listener, router, options, Never());
    Reference<Connection> client = co_await transport().connect(listener->localAddress());
    for (int i = 0; i < 2; ++i) {
        std::string post = "POST /jobs/" + std::to_string(i) + " HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc";
        test::Received done = co_await test::ask(client, post);
        CHECK(done.body == "POST /jobs/" + std::to_string(i) + " abc");
    }
    test::Received none = co_await test::ask(client, test::get("/none"));
    CHECK(none.status == 404);
    std::string page = metrics::text();
    CHECK(has(page, "millrace_http_requests_total{server=\"b\",route=\"/jobs/{id}\",status=\"200\"} 2"));
    CHECK(has(page, "millrace_http_requests_total{server=\"b\",route=\"\",status=\"404\"} 1"));
    CHECK(has(page, "millrace_http_received_bytes_total{server=\"b\"} 6"));
    CHECK(has(page, "millrace_http_connections{server=\"b\"} 1"));
}

} // namespace

TEST_CASE("http metrics: of a server with a router") {
    test::onEachNetwork(watchAServer);
}

} // namespace http_metrics_test
