#pragma once
// setTls(): message sockets over TLS, at endpoints such as "tls://example.org:5555".
//
//     MessageOptions options;
//     setTls(options, TlsContext::client());                         // for connect()
//     MessageSocket dealer(SocketType::Dealer, options);
//     dealer.connect("tls://example.org:5555");                      // its certificate must be that of example.org
//
//     setTls(options, TlsContext::server(identity));                 // for bind()
//
// libzmq has no such endpoints: both sides must be ours, or the other one behind a proxy that ends TLS. A handshake
// that fails is an event of the monitor (zmtp::Fault::TlsFailed), and a client tries again as after any failure.

#include "net/message/message_socket.h"
#include "net/tls/tls_context.h"

namespace flow::net {

/// For a context of a client, sets the functions that connect; for a context of a server, those that bind.
void setTls(MessageOptions& options, Reference<TlsContext> context);

} // namespace flow::net
