#pragma once
// Service: what all connections of one http::serve() share, whatever version of HTTP they speak.

#include "flow/sync/semaphore.h"
#include "net/http/detail/body_io.h"
#include "net/http/server.h"

namespace flow::net::http::detail {

struct Service {
    Service(HandlerToTheEnd h, ServerOptions o);

    /// Calls the handler. The future has failed if the handler throws.
    Future<Response> call(Request request, Event* ending) const;
    /// Returns the response to a request for which the handler has failed, and reports the error, unless the client has
    /// caused it. `body` may be null.
    Response failed(Error error, ReceivedBody const* body) const;
    /// Returns the line "Date: ...\r\n" for now.
    std::string_view date();
    BodyLimits bodyLimits() const {
        return {options.bodyBytes, options.bodyTime, options.headerBytes, options.headerCount};
    }

    HandlerToTheEnd const handler;
    ServerOptions const options;
    Semaphore places; // for requests in handlers
    ServerCounters ownCounters;
    ServerCounters& counters;
    std::string scratch; // for text that is sent before its writer waits

private:
    std::string date_;
    double dateUntil_ = -1;
};

/// While a server ends, an idle client may send one more request for so many seconds; a client that is refused has so
/// many seconds to read why.
inline constexpr double kLastSeconds = 1;

/// Makes a handler that is not told of the end one of the other kind.
inline HandlerToTheEnd toTheEnd(Handler handler) {
    return [handler = std::move(handler)](Request request, Event*) { return handler(std::move(request)); };
}

/// In a handler of exceptions: returns the error; throws it if it is a cancel.
Error errorOfHandler();

/// Returns a response of the library itself: status and reason as text.
Response refusalOf(Refusal const& refusal);

/// The facts of an encrypted connection; null for others.
std::shared_ptr<TlsFacts const> tlsFactsOf(Connection& connection);

/// Ends the writing, and drops what still comes, for kLastSeconds at most: with unread bytes, closing would reset the
/// connection, and the client might not read what was sent to it last.
Future<Void> linger(Reference<Connection> connection);

/// Serves a connection in HTTP/1.1, until it ends. An error means that the connection must be reset.
Future<Void> serveHttp1(Service* service, Reference<Connection> connection, Event* ending);

} // namespace flow::net::http::detail
