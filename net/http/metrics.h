#pragma once
// ServerMetrics: metrics of an HTTP server for Prometheus, and its access log.
//
//     http::ServerMetrics metrics({.server = "shop"});
//     http::ServerOptions options;
//     metrics.watch(options);
//     co_await http::serve(listener, router, options, stop);
//
//     millrace_http_requests_total{server="shop",route="/jobs/{id}",status="200"} 27
//     millrace_http_request_seconds_bucket{server="shop",route="/jobs/{id}",le="0.008"} 25    # a histogram
//     millrace_http_requests_in_flight{server="shop"} 2
//     millrace_http_connections{server="shop"} 14
//     millrace_http_received_bytes_total{server="shop"} 5120          # of the bodies of requests
//     millrace_http_sent_bytes_total{server="shop"} 734003            # of the bodies of responses
//
// The time of a request begins with its head and ends with the last byte of its response. The route is the pattern of a
// Router. Without a route it is "", so a client cannot create metrics. Status 0 means that the connection has ended
// before the response. metrics::text() (flow/trace/metrics.h) makes the page; console::servePrometheus() serves it.
//
// With accessLog, each request is a TraceEvent, which costs little as long as no sink is set:
//
//     {"Time":12.5,"Severity":10,"Type":"HttpRequest","Server":"shop","Peer":"10.0.0.1:4500","Method":"GET",
//      "Target":"/jobs/7","Status":200,"Seconds":0.002,"Received":0,"Sent":612}
//
// A ServerMetrics belongs to the thread of the server, and must outlive serve(). Objects with the same `server` add up.

#include "flow/trace/metrics.h"
#include "net/http/server.h"

#include <map>
#include <string>

namespace flow::net::http {

struct MetricsOptions {
    std::string server = "main";
    bool accessLog = false;
    std::vector<double> bounds = metrics::powers(0.001, 2, 14); // buckets of the histogram, in seconds
};

class ServerMetrics {
public:
    explicit ServerMetrics(MetricsOptions options = {});
    ServerMetrics(ServerMetrics const&) = delete;
    ServerMetrics& operator=(ServerMetrics const&) = delete;
    ~ServerMetrics();

    /// Sets `onEnd` and `counters` of the options. An earlier onEnd is still called.
    void watch(ServerOptions& options);
    ServerCounters const& counters() const { return counters_; }

private:
    struct Route {
        Route(MetricsOptions const& options, std::string const& name);

        metrics::Histogram seconds;
        std::map<int, metrics::Counter> statuses;
    };

    void add(Exchange const& exchange);

    MetricsOptions options_;
    ServerCounters counters_;
    metrics::Counter received_, sent_;
    metrics::Gauge inFlight_, connections_;
    std::map<std::string, Route, std::less<>> routes_;
};

} // namespace flow::net::http
