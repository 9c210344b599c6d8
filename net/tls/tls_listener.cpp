#include "net/tls/tls_listener.h"

#include "flow/coro/coroutine.h"

namespace flow::net {

TlsListener::TlsListener(Reference<Listener> carrier, Reference<TlsContext> context, Limits limits)
    : carrier_(std::move(carrier)), limits_(limits) {
    FLOW_ASSERT(limits.handshakes > 0 && limits.ready > 0, "a TlsListener that may hold nothing");
    setContext(std::move(context));
    accepting_ = acceptAll();
}

TlsListener::~TlsListener() {
    TlsListener::close();
    if (!hasLoop())
        abandonWaiters();
}

void TlsListener::setContext(Reference<TlsContext> context) {
    FLOW_ASSERT(context->isServer(), "a TlsListener with the context of a client");
    context_ = std::move(context);
}

void TlsListener::close() {
    accepting_ = Future<Void>();
    handshaking_.cancel();
    underWay_.clear();
    while (!ready_.isEmpty())
        ready_.pop()->abort();
    carrier_->close();
    if (!error_.isValid())
        fail(operation_obsolete());
}

Reference<Connection> TlsListener::takeConnection() {
    Reference<Connection> connection = ready_.pop();
    if (ready_.size() == limits_.ready - 1 && !room_.isSet())
        room_.send(Void());
    return connection;
}

void TlsListener::beginHandshake(Reference<Connection> carrier) {
    if (underWay_.size() >= limits_.handshakes) {
        underWay_.begin()->second->abort(); // then the handshake of this client fails
        underWay_.erase(underWay_.begin());
    }
    std::uint64_t number = ++accepted_;
    underWay_[number] = carrier;
    handshaking_.spawn(handshake(number, std::move(carrier)));
}

void TlsListener::lookAgain() noexcept {
    try {
        while (ready_.size() < limits_.ready) {
            Reference<Connection> carrier = carrier_->tryAccept();
            if (!carrier)
                return;
            beginHandshake(std::move(carrier));
        }
    } catch (...) { // no memory: the connection is closed
    }
}

/// Accepts connections and starts their handshakes. If accepting fails, this listener fails with that error.
Future<Void> TlsListener::acceptAll() {
    try {
        for (;;) {
            if (ready_.size() >= limits_.ready) {
                room_ = Promise<Void>();
                co_await room_.getFuture();
            }
            Reference<Connection> carrier = co_await carrier_->accept();
            beginHandshake(std::move(carrier));
        }
    } catch (...) {
        Error error = currentError();
        if (error == actor_cancelled())
            throw error;
        fail(error);
    }
}

Future<Void> TlsListener::handshake(std::uint64_t number, Reference<Connection> carrier) {
    Address client = carrier->peerAddress();
    ErrorOr<Reference<TlsConnection>> result = co_await tryGet(tlsServer(std::move(carrier), context_));
    if (result.isError() && result.getError() == actor_cancelled())
        throw result.getError();
    underWay_.erase(number);
    if (result.isError()) {
        noteFailure(client, result.getError(), lastTlsError());
        co_return;
    }
    ready_.push(result.get());
    acceptorsMayTry();
}

void TlsListener::noteFailure(Address const& client, Error error, std::string const& why) {
    ++failures_;
    if (onFailure_)
        onFailure_(client, error, why);
}

} // namespace flow::net
