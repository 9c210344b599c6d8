#pragma once
// DetachedConnection: moves a connection to another loop, so that one loop can accept and other loops can serve.
//
//     Future<Void> serveOn(Loop& loop, Reference<Connection> client) {
//         DetachedConnection detached(std::move(client));
//         co_await onLoop(loop, [detached = std::move(detached)]() mutable { return serve(detached.attach()); });
//     }
//
// The threads share no state. Dropping a DetachedConnection closes the connection. A connection with TLS, or of a
// simulation, cannot be moved.

#include "net/transport.h"

#include <vector>

namespace flow::net {

class DetachedConnection {
public:
    /// Takes the connection out of its loop, where the connection then counts as closed. No operation may wait for it,
    /// and all written bytes must be flushed(). Throws unsupported_operation if `connection` is no socket of this
    /// machine, operation_obsolete if it is closed or has failed, or the error that its last read would return.
    explicit DetachedConnection(Reference<Connection> connection);
    DetachedConnection(DetachedConnection&& other) noexcept;
    DetachedConnection& operator=(DetachedConnection&&) = delete;
    ~DetachedConnection();

    /// Returns the connection on the current loop, which must have the machine's network. Call attach() only once.
    /// Reads first return the bytes that were received and not read before.
    Reference<Connection> attach();

private:
    int descriptor_;
    Address peer_;
    ReadStrategy strategy_;
    std::vector<std::uint8_t> received_;
};

} // namespace flow::net
