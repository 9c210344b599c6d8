#include "net/serve.h"

#include "flow/base/dropped_error.h"
#include "flow/coro/coroutine.h"
#include "flow/coro/race.h"
#include "flow/lib/collection.h"
#include "flow/wait/delay.h"

namespace flow::net {
namespace {

/// `server` outlives it.
Future<Void> reportErrors(Future<Void> serving, Address const* server) {
    ErrorOr<Void> result = co_await tryGet(std::move(serving));
    if (!result.isError())
        co_return;
    Error error = result.getError();
    if (error == actor_cancelled())
        throw error;
    // A peer must not be able to fill the log.
    if (!isConnectionError(error) && error != operation_obsolete() && error != end_of_stream() &&
        error != value_too_large())
        reportDroppedBy(("the server at " + server->toString()).c_str(), error);
}

Future<Void> drain(SignalableActorCollection& served) {
    co_await served.signal();
    co_await transport().settled();
}

} // namespace

Future<Void> serveUntil(Reference<Listener> listener, std::function<Future<Void>(Reference<Connection>)> serve,
                        Future<Void> stop, double grace) {
    Address const address = listener->localAddress();
    SignalableActorCollection served;
    for (;;) {
        auto first = co_await race(stop, listener->accept());
        if (first.index() == 0)
            break;
        served.add(reportErrors(serve(std::get<1>(std::move(first))), &address));
    }
    listener->close();
    co_await race(drain(served), delay(grace));
}

} // namespace flow::net
