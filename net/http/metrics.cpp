#include "net/http/metrics.h"

#include "flow/trace/trace_event.h"

#include <tuple>
#include <utility>

namespace flow::net::http {

ServerMetrics::Route::Route(MetricsOptions const& options, std::string const& name)
    : seconds("millrace_http_request_seconds", "From the head of a request to the end of its response.", options.bounds,
              {{"server", options.server}, {"route", name}}) {}

ServerMetrics::ServerMetrics(MetricsOptions options)
    : options_(std::move(options)), received_("millrace_http_received_bytes_total", "Bytes of the bodies of requests.",
                                              {{"server", options_.server}}),
      sent_("millrace_http_sent_bytes_total", "Bytes of the bodies of responses.", {{"server", options_.server}}),
      inFlight_("millrace_http_requests_in_flight", "Requests that are being answered.",
                [this] { return static_cast<double>(counters_.inFlight); }, {{"server", options_.server}}),
      connections_("millrace_http_connections", "Connections that are open.",
                   [this] { return static_cast<double>(counters_.open); }, {{"server", options_.server}}) {}

ServerMetrics::~ServerMetrics() = default;

void ServerMetrics::watch(ServerOptions& options) {
    options.counters = &counters_;
    options.onEnd = [this, before = std::move(options.onEnd)](Exchange const& exchange) {
        add(exchange);
        if (before)
            before(exchange);
    };
}

void ServerMetrics::add(Exchange const& exchange) {
    received_.add(exchange.received);
    sent_.add(exchange.sent);
    auto route = routes_.find(exchange.route);
    if (route == routes_.end()) {
        std::string name(exchange.route);
        route = routes_.emplace(std::piecewise_construct, std::tuple(name), std::tie(options_, name)).first;
    }
    route->second.seconds.observe(exchange.seconds);
    auto status = route->second.statuses.find(exchange.status);
    if (status == route->second.statuses.end())
        status = route->second.statuses
                     .try_emplace(exchange.status, "millrace_http_requests_total", "Requests that have ended.",
                                  metrics::Labels{{"server", options_.server},
                                                  {"route", route->first},
                                                  {"status", std::to_string(exchange.status)}})
                     .first;
    status->second.add();
    if (!options_.accessLog)
        return;
    TraceEvent event("HttpRequest");
    if (!event.isEnabled())
        return;
    event.detail("Server", options_.server)
        .detail("Peer", exchange.peer ? exchange.peer->toString() : std::string())
        .detail("Method", exchange.method)
        .detail("Target", exchange.target)
        .detail("Status", exchange.status)
        .detail("Seconds", exchange.seconds)
        .detail("Received", exchange.received)
        .detail("Sent", exchange.sent)
        .request(exchange.context);
}

} // namespace flow::net::http
