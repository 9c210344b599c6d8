#pragma once
// TlsListener: a Listener that accepts TLS connections, after their handshake.
//
//     auto listener = makeReference<TlsListener>(transport().listen(443), TlsContext::server(options));
//     co_await serveUntil(listener, serve, stop, 5.0);
//     listener->setContext(TlsContext::server(options));      // when the files of certificates have changed
//
// Handshakes run concurrently, and accept() returns connections in the order in which their handshakes finish. So a
// client that is slow, sends garbage or sends nothing delays no other client. At most limits.handshakes run at a time:
// a further client makes the oldest handshake fail. A failed or late handshake ends only its connection. failures()
// counts failed handshakes, and onFailure() sets a function that is called for each.
//
// A TlsListener does handshakes even while no accept() waits. When limits.ready connections wait to be accepted,
// further clients wait in the kernel.

#include "flow/base/non_copyable.h"
#include "flow/core/ring_queue.h"
#include "flow/tasks/scope.h"
#include "net/tls/detail/tls_connection.h"

#include <functional>
#include <map>

namespace flow::net {

class TlsListener final : public Listener {
public:
    struct Limits {
        std::size_t handshakes; // the most handshakes that run at a time
        std::size_t ready;      // the most connections that are not yet accepted
    };

    TlsListener(Reference<Listener> carrier, Reference<TlsContext> context, Limits limits = {1000, 100});
    ~TlsListener() override;

    /// Makes later handshakes use `context`.
    void setContext(Reference<TlsContext> context);
    std::size_t handshakes() const { return underWay_.size(); }
    std::uint64_t failures() const { return failures_; }
    /// Sets the function for failed handshakes. It must not throw, and must not destroy the listener.
    void onFailure(std::function<void(Address const&, Error, std::string const&)> call) {
        onFailure_ = std::move(call);
    }

    bool isBusy() const override { return !underWay_.empty(); }
    void close() override;
    Address localAddress() const override { return carrier_->localAddress(); }
    int nativeDescriptor() const override { return carrier_->nativeDescriptor(); }

private:
    bool hasConnection() noexcept override { return !ready_.isEmpty(); }
    Reference<Connection> takeConnection() override;
    void lookAgain() noexcept override;

    Future<Void> acceptAll();
    void beginHandshake(Reference<Connection> carrier);
    Future<Void> handshake(std::uint64_t number, Reference<Connection> carrier);
    void noteFailure(Address const& client, Error error, std::string const& why);

    Reference<Listener> carrier_;
    Reference<TlsContext> context_;
    std::map<std::uint64_t, Reference<Connection>> underWay_; // the carriers of handshakes, the oldest first
    std::uint64_t accepted_ = 0;
    RingQueue<Reference<Connection>> ready_;
    std::function<void(Address const&, Error, std::string const&)> onFailure_;
    Limits limits_;
    std::uint64_t failures_ = 0;
    Promise<Void> room_; // sent when there is room in ready_ again
    Scope handshaking_{OnError::Report};
    Future<Void> accepting_;
};

} // namespace flow::net
