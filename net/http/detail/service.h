#pragma once
// Service: the state of one http::serve(), shared by all its connections.

#include "flow/sync/semaphore.h"
#include "net/http/detail/body_io.h"
#include "net/http/detail/trace_fields.h"
#include "net/http/server.h"

namespace flow::net::http::detail {

struct Service {
    Service(HandlerToTheEnd h, ServerOptions o);

    /// Calls the handler. If it throws, the future has the error. `fields` are the fields of the request.
    Future<Response> call(Request request, Event* ending, TraceFields const& fields) const;
    /// Returns the response for an error of the handler; reports it unless the client caused it. `body` may be null.
    Response failed(Error error, ReceivedBody const* body, Exchange const& exchange) const;
    /// Returns the line "Date: ...\r\n" for now.
    std::string_view date();
    BodyLimits bodyLimits() const {
        return {options.bodyBytes, options.bodyTime, options.headerBytes, options.headerCount};
    }

    HandlerToTheEnd const handler;
    ServerOptions const options;
    Semaphore places; // limits the requests in handlers
    ServerCounters ownCounters;
    ServerCounters& counters;
    std::string scratch; // a buffer for text that is used before the next co_await

private:
    std::string date_;
    double dateUntil_ = -1;
};

/// Seconds for a last request when the server ends, and for a refused client to read the answer.
inline constexpr double kLastSeconds = 1;

/// Converts a handler without `ending`.
inline HandlerToTheEnd toTheEnd(Handler handler) {
    return [handler = std::move(handler)](Request request, Event*) { return handler(std::move(request)); };
}

/// Call it in a `catch`: returns the error, but rethrows actor_cancelled.
Error errorOfHandler();

/// Reports an error of the handler, or of what `where` names, with the method, the path and the context of the request.
void reportFailed(Error error, Exchange const& exchange, const char* where = "a handler of http::serve()") noexcept;

/// Returns a response with the status and the reason as text.
Response refusalOf(Refusal const& refusal);

/// Returns null for a connection without TLS.
std::shared_ptr<TlsFacts const> tlsFactsOf(Connection& connection);

/// Ends the writing, and reads and drops bytes for at most kLastSeconds. A close with unread bytes would reset the
/// connection, and the client might lose the last answer.
Future<Void> linger(Reference<Connection> connection);

/// Serves a connection until it ends, in HTTP/1.1 or HTTP/2. After an error the caller must reset the connection.
Future<Void> serveHttp1(Service* service, Reference<Connection> connection, Event* ending);

} // namespace flow::net::http::detail
