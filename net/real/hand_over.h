#pragma once
// sendListener(), sendConnection(), receiveHandedOver(): a listener or a connection moves to another process of this
// machine, over a connection at a Unix socket (SCM_RIGHTS).
//
//     co_await net::sendListener(channel, listener, "http");                      // one process
//     net::DetachedConnection detached(client);
//     co_await net::sendConnection(channel, detached);
//
//     net::HandedOver first = co_await net::receiveHandedOver(channel);           // the other process
//     Reference<net::Listener> listener = first.listener();
//     net::HandedOver second = co_await net::receiveHandedOver(channel);
//     Reference<net::Connection> client = second.connection().attach();
//
// A listener is shared: each process may accept until it closes its listener. Clients that wait are lost only when the
// last one is closed. The file of a listener at a Unix path stays after the send: closing the listener removes it in
// neither process, and the next listen() at this path replaces it. serveUntil() and http::serve() take the clients that
// wait before they close a listener. Other code calls tryAccept() until it returns none: with io_uring the kernel
// accepts ahead, and close() resets the connections that it has accepted. A connection moves, with its unread bytes.
//
// The channel must carry nothing else in the direction of the descriptors. A read of other bytes may also read the
// bytes of a descriptor, and then the kernel closes the descriptor. The other direction is free, for answers. Open the
// channel only to trusted programs, such as by the permissions of its folder. Its ReadStrategy must not be Ahead.
//
// Cancel safety. A cancelled send has sent nothing, or all. receiveHandedOver() is an operation in place: an operation
// that loses a race has taken nothing. If the other process ends before it has received a socket, the kernel closes
// this socket. A sent listener is still open here, a sent connection is not.
//
// Errors. The functions throw client_invalid_operation with a sentence if the channel is no connection of this machine
// at a Unix socket, or the name is too long; unsupported_operation with a sentence if the listener has TLS (send the
// listener below it) or is of a simulation; value_too_large if more than 256 MiB are unread; operation_obsolete if the
// listener is closed; and errors of the channel, such as connection_failed when the other process has ended.
// receiveHandedOver() fails with end_of_stream at the end. It fails with serialization_failed and a sentence if other
// bytes were sent, or if this process has no descriptor left: then the channel has failed, and all that came is closed.

#include "net/real/detached_connection.h"

#include <source_location>
#include <string>

namespace flow::net {

/// A listener or a connection from the other process. Dropping this object closes it. The object may move to another
/// thread: call listener() or connection().attach() on the loop there.
class HandedOver {
public:
    /// The name that the sender has given.
    std::string const& name() const { return name_; }
    bool isListener() const { return isListener_; }
    /// Returns the listener, on the current loop. Only the options of accepted connections are used. Call once. Throws
    /// client_invalid_operation with a sentence if isListener() is false.
    Reference<Listener> listener(ListenOptions const& options = {});
    /// Returns the connection. Call once. Throws client_invalid_operation with a sentence if isListener() is true.
    DetachedConnection connection();

private:
    friend struct ReceiveHandedOver;
    friend Future<Void> sendListener(Reference<Connection>, Reference<Listener>, std::string);
    friend Future<Void> sendConnection(Reference<Connection>, DetachedConnection&, std::string, std::source_location);
    struct Record;
    static Record record(DetachedConnection const* connection, std::string const& name, std::source_location caller);
    static Future<Void> send(Reference<Connection> channel, Record record, Reference<Listener> listener,
                             DetachedConnection* connection);
    HandedOver(std::string name, bool isListener, DetachedConnection socket)
        : name_(std::move(name)), isListener_(isListener), socket_(std::move(socket)) {}

    std::string name_;
    bool isListener_;
    DetachedConnection socket_; // of a listener too
};

/// The operation of receiveHandedOver(). The channel must outlive the operation.
struct ReceiveHandedOver : ReadRequest {
    using Result = HandedOver;
    HandedOver take();
};

/// Sends a listener. Ready when the kernel has taken it; it stays open here. The name has at most 370 bytes.
Future<Void> sendListener(Reference<Connection> channel, Reference<Listener> listener, std::string name = {});
/// Sends a connection. Ready when the kernel has taken it; then `connection` has none any more. After an error or a
/// cancel `connection` still has it. `connection` must outlive the returned future.
Future<Void> sendConnection(Reference<Connection> channel, DetachedConnection& connection, std::string name = {},
                            std::source_location caller = std::source_location::current());
/// Takes the next listener or connection.
ReceiveHandedOver receiveHandedOver(Reference<Connection> const& channel);

} // namespace flow::net
