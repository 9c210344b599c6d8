#include "net/http/server.h"

#include "flow/base/detail/dropped_error.h"
#include "flow/base/format.h"
#include "flow/coro/coroutine.h"
#include "flow/trace/trace_event.h"
#include "net/http/detail/dates.h"
#include "net/http/detail/request_span.h"
#include "net/http/detail/service.h"
#include "net/serve.h"

#include <cmath>

namespace flow::net::http {
namespace detail {
namespace {

void checkPositive(char const* option, double value) {
    if (!(value > 0))
        throw wrongOption("ServerOptions", option, format("%g", value), "it must be more than 0");
}

ServerOptions checked(ServerOptions options) {
    checkPositive("headerBytes", options.headerBytes);
    checkPositive("headerCount", options.headerCount);
    checkPositive("bodyBytes", static_cast<double>(options.bodyBytes));
    checkPositive("idle", options.idle);
    checkPositive("headerTime", options.headerTime);
    checkPositive("bodyTime", options.bodyTime);
    checkPositive("writeTime", options.writeTime);
    checkPositive("requestsPerConnection", options.requestsPerConnection);
    checkPositive("connections", options.connections);
    checkPositive("concurrentRequests", options.concurrentRequests);
    checkPositive("grace", options.grace);
    return options;
}

} // namespace

Service::Service(HandlerToTheEnd h, ServerOptions o)
    : handler(std::move(h)), options(checked(std::move(o))), places(options.concurrentRequests),
      counters(options.counters ? *options.counters : ownCounters) {}

Future<Response> Service::call(Request request, Event* ending, TraceFields const& fields) const {
    try {
        if (options.tracer)
            beginSpan(*options.tracer, request, fields);
        Future<Response> answering = handler(std::move(request), ending);
        FLOW_ASSERT(answering.isValid(), "http::serve(): a handler gave an invalid future");
        return answering;
    } catch (...) {
        return currentError();
    }
}

Response Service::failed(Error error, ReceivedBody const* body, Exchange const& exchange) const {
    if (body && body->refusal())
        return refusalOf(body->refusal());
    if (error == value_too_large())
        return refusalOf({413, "the body is too long"});
    reportFailed(error, exchange);
    return refusalOf({500, "the server has failed to answer"});
}

std::string_view Service::date() {
    double now = Loop::current().now();
    if (now >= dateUntil_) {
        double wall = Loop::current().wallTime();
        dateUntil_ = now + 1 - (wall - std::floor(wall));
        date_ = "Date: " + httpDate(static_cast<std::int64_t>(wall)) + "\r\n";
    }
    return date_;
}

Error errorOfHandler() {
    Error error = currentError();
    if (error == actor_cancelled())
        throw;
    return error;
}

void reportFailed(Error error, Exchange const& exchange, const char* where) noexcept {
    auto add = [](TraceEvent& event, void const* of) {
        auto& failed = *static_cast<Exchange const*>(of);
        event.detail("Method", failed.method).detail("Path", pathOfTarget(failed.target)).request(failed.context);
    };
    reportDroppedBy(where, error, add, &exchange);
}

Response refusalOf(Refusal const& refusal) {
    Response response;
    response.status = refusal.status;
    response.headers.add("Content-Type", "text/plain; charset=utf-8");
    response.body = std::string(reasonOf(refusal.status)) + ": " + refusal.reason + "\n";
    return response;
}

} // namespace detail

Future<Void> serve(Reference<Listener> listener, HandlerToTheEnd handler, ServerOptions options, Future<Void> stop) {
    detail::Service service(std::move(handler), std::move(options));
    ServeToTheEnd serveOne = [&service](Reference<Connection> connection, Event* ending) {
        return detail::serveHttp1(&service, std::move(connection), ending);
    };
    Future<Void> serving = serveUntil(std::move(listener), std::move(serveOne), std::move(stop), service.options.grace,
                                      service.options.connections);
    co_await std::move(serving);
}

Future<Void> serve(Reference<Listener> listener, Handler handler, ServerOptions options, Future<Void> stop) {
    return serve(std::move(listener), detail::toTheEnd(std::move(handler)), std::move(options), std::move(stop));
}

} // namespace flow::net::http
