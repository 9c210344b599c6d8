#pragma once
// DetachedConnection: moves a connection to another loop, so that one loop can accept and other loops can serve.
//
//     Future<Void> serveOn(Loop& loop, Reference<Connection> client) {
//         DetachedConnection detached(std::move(client));
//         co_await onLoop(loop, [detached = std::move(detached)]() mutable { return serve(detached.attach()); });
//     }
//
// The threads share no state. Dropping a DetachedConnection closes the connection. A connection with TLS, or of a
// simulation, cannot be moved. net/real/hand_over.h moves a connection to another process.

#include "net/transport.h"

#include <vector>

namespace flow::net {

class DetachedConnection {
public:
    /// Takes the connection from its loop. From then on `connection` is closed there. No operation may wait for it, and
    /// all written bytes must be flushed(). Throws unsupported_operation with a sentence if `connection` is no socket
    /// of this machine, operation_obsolete if it is closed or has failed, or the error that its last read would return.
    explicit DetachedConnection(Reference<Connection> connection);
    DetachedConnection(DetachedConnection&& other) noexcept;
    DetachedConnection& operator=(DetachedConnection&&) = delete;
    ~DetachedConnection();

    /// Returns the connection, with its unread bytes, on the current loop, which must have the machine's network. Call
    /// once.
    Reference<Connection> attach();

private:
    friend class HandedOver;
    friend struct ReceiveHandedOver;
    DetachedConnection(int descriptor, Address const& peer, ReadStrategy strategy, std::vector<std::uint8_t> received)
        : descriptor_(descriptor), peer_(peer), strategy_(strategy), received_(std::move(received)) {}
    void close();

    int descriptor_; // -1: none any more
    Address peer_;
    ReadStrategy strategy_;
    std::vector<std::uint8_t> received_;
};

} // namespace flow::net
