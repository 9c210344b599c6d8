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
// A listener is shared: both processes may accept until they close theirs, and clients that wait are lost only when the
// last one is closed. The file of a listener at a Unix path stays from then on: closing the listener removes it in
// neither process, and the next listen() at this path replaces it. serveUntil() and http::serve() take the clients that
// wait before they close a listener; other code calls tryAccept() until it gives none, because with io_uring the kernel
// accepts ahead, and close() resets what it has accepted. A connection moves, with its unread bytes.
//
// The channel. In the direction of the descriptors it carries nothing else, because a read of other bytes may also read
// the bytes of a descriptor, which the kernel then closes. The other direction is free, for answers. Open it to trusted
// programs alone, such as by the permissions of the folder of its path. Its ReadStrategy must not be Ahead.
//
// Cancel safety. A send that is cancelled has sent nothing, or all, and receiveHandedOver() is an operation in place:
// one that loses a race has taken nothing. If the other process ends before it has received, the kernel closes what was
// sent; a listener is still open here, a connection is not.
//
// Errors. They throw client_invalid_operation with a sentence if the channel is no connection of this machine at a Unix
// socket, or the name is too long; unsupported_operation with a sentence if the listener has TLS (send the one below
// it) or is of a simulation; value_too_large if more than 256 MiB are unread; operation_obsolete if it is closed; and
// the errors of the channel, such as connection_failed when the other process has ended. receiveHandedOver() fails with
// end_of_stream at the end; with serialization_failed and a sentence if something else was sent, or if this process has
// no descriptor left: then the channel has failed, and all that came with it is closed.

#include "net/real/detached_connection.h"

#include <source_location>
#include <string>

namespace flow::net {

/// What has come from the other process. Dropping it closes it. It may be moved to another thread, and its listener()
/// or connection().attach() be called on the loop there.
class HandedOver {
public:
    /// The name that the sender has given.
    std::string const& name() const { return name_; }
    bool isListener() const { return isListener_; }
    /// Returns the listener, on the current loop. Only the options of accepted connections are used. Call once.
    /// Throws client_invalid_operation with a sentence if it is a connection.
    Reference<Listener> listener(ListenOptions const& options = {});
    /// Returns the connection. Call once. Throws client_invalid_operation with a sentence if it is a listener.
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

/// The operation of receiveHandedOver(). The channel must outlive it.
struct ReceiveHandedOver : ReadRequest {
    using Result = HandedOver;
    HandedOver take();
};

/// Ready when the kernel has taken the listener, which stays open here. The name has at most 370 bytes.
Future<Void> sendListener(Reference<Connection> channel, Reference<Listener> listener, std::string name = {});
/// Ready when the kernel has taken the connection, which `connection` no longer has then. After an error or a cancel it
/// still has it. `connection` must outlive the returned future.
Future<Void> sendConnection(Reference<Connection> channel, DetachedConnection& connection, std::string name = {},
                            std::source_location caller = std::source_location::current());
/// Takes the next listener or connection.
ReceiveHandedOver receiveHandedOver(Reference<Connection> const& channel);

} // namespace flow::net
