#pragma once
// adoptConnection(), adoptListener(), adoptDatagramSocket(): sockets that this project has not opened.
//
//     Reference<Connection> peer = net::adoptConnection(passedByParent);
//     co_await peer->write("hello"_sr);
//
// For sockets that a parent process, another library or SCM_RIGHTS has given. From then on the object owns the socket:
// it becomes non-blocking, also for other processes that share it, and is closed with the object. A Listener or
// DatagramSocket at a Unix path does not remove the file, which somebody else has made. Bytes that another library has
// read and not used are lost.
//
// Call them on the loop on which the socket is used. They throw unsupported_operation if the loop does not have the
// machine's network, client_invalid_operation with a sentence if the descriptor is no such socket, and
// invalid_option_value. Then the descriptor stays the caller's.

#include "net/transport.h"

namespace flow::net {

Reference<Connection> adoptConnection(int descriptor, SocketOptions const& options = {});
/// Only the options of accepted connections are used.
Reference<Listener> adoptListener(int descriptor, ListenOptions const& options = {});
Reference<DatagramSocket> adoptDatagramSocket(int descriptor, DatagramOptions const& options = {});

} // namespace flow::net
