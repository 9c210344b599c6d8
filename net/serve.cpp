#include "net/serve.h"

#include "flow/base/detail/dropped_error.h"
#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/sync/semaphore.h"
#include "flow/tasks/scope.h"
#include "flow/wait/delay.h"
#include "net/detail/serve_aside.h"
#include "net/detail/service_notice.h"

#include <optional>

namespace flow::net {
namespace {

/// The seconds that handshakes may still take when a server begins to shut down.
constexpr double kLastSeconds = 1;

/// True for errors that a peer can cause. They are not reported, so that a peer cannot fill the log.
bool isExpected(Error const& error) {
    return isConnectionError(error) || error == actor_cancelled() || error == operation_obsolete() ||
           error == end_of_stream() || error == value_too_large();
}

/// A connection that is served. The destructor resets the connection, unless endsWell is true.
struct Served {
    explicit Served(Reference<Connection> c) : connection(std::move(c)) {}
    Served(Served const&) = delete;
    Served& operator=(Served const&) = delete;
    ~Served() {
        if (!endsWell)
            connection->abort();
    }

    Reference<Connection> connection;
    bool endsWell = false;
};

Future<Void> begin(ServeToTheEnd const& serve, Reference<Connection> connection, Event* ending) {
    try {
        return serve(std::move(connection), ending);
    } catch (...) {
        return currentError();
    }
}

/// The caller keeps `*serve`, `*ending` and `*server` until the returned future has ended.
Future<Void> serveOne(ServeToTheEnd const* serve, Reference<Connection> connection, Semaphore::Permit, Event* ending,
                      Address const* server) {
    Served served(std::move(connection)); // declared before `serving`, so the handler's future is destroyed first
    Future<Void> serving = begin(*serve, served.connection, ending);
    FLOW_ASSERT(serving.isValid(), "serveUntil(): a handler gave an invalid future");
    ErrorOr<Void> result = co_await tryGet(std::move(serving));
    Error error = result.isError() ? result.getError() : Error();
    served.endsWell = !error.isValid() || error == end_of_stream();
    if (error.isValid() && !isExpected(error))
        reportDroppedBy(("the server at " + server->toString()).c_str(), error);
}

Future<Void> drain(Scope& served) {
    co_await served.join();
    co_await transport().settled();
}

ServeToTheEnd toTheEnd(Serve serve) {
    return
        [serve = std::move(serve)](Reference<Connection> connection, Event*) { return serve(std::move(connection)); };
}

Future<Void> serveAll(Reference<Listener> listener, ServeToTheEnd serve, Future<Void> stop, Seconds grace,
                      std::size_t most, bool isService) {
    std::optional<ServiceNotice> notice;
    if (isService)
        notice.emplace();
    Address const address = listener->localAddress();
    Semaphore places(most);
    Event ending;
    Scope served(OnError::Report);
    for (;;) {
        auto place = co_await race(stop, places.permit());
        if (place.index() == 0)
            break;
        auto first = co_await race(stop, listener->accept());
        if (first.index() == 0)
            break;
        served.spawn(serveOne(&serve, std::get<1>(std::move(first)), std::get<1>(std::move(place)), &ending, &address));
    }
    if (notice)
        notice->stopping();
    // close() would reset the connections that wait to be accepted, even if another process listens at the same port.
    for (double last = now() + kLastSeconds;;) {
        while (Reference<Connection> waiting = listener->tryAccept())
            served.spawn(serveOne(&serve, std::move(waiting), Semaphore::Permit(), &ending, &address));
        if (!listener->isBusy())
            break;
        auto first = co_await race(listener->accept(), delayUntil(last));
        if (first.index() == 1)
            break;
        served.spawn(serveOne(&serve, std::get<0>(std::move(first)), Semaphore::Permit(), &ending, &address));
    }
    listener->close();
    ending.set();
    co_await race(drain(served), delay(grace));
    served.close();
    co_await joinShielded();
}

} // namespace

Future<Void> serveUntil(Reference<Listener> listener, ServeToTheEnd serve, Future<Void> stop, Seconds grace,
                        std::size_t most) {
    return serveAll(std::move(listener), std::move(serve), std::move(stop), grace, most, true);
}

Future<Void> serveUntil(Reference<Listener> listener, Serve serve, Future<Void> stop, Seconds grace, std::size_t most) {
    return serveAll(std::move(listener), toTheEnd(std::move(serve)), std::move(stop), grace, most, true);
}

Future<Void> serveAside(Reference<Listener> listener, Serve serve, Future<Void> stop, Seconds grace) {
    return serveAll(std::move(listener), toTheEnd(std::move(serve)), std::move(stop), grace, kAllConnections, false);
}

} // namespace flow::net
