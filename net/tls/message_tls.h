#pragma once
// setTls(): message sockets over TLS, at endpoints such as "tls://example.org:5555".
//
//     MessageOptions options;
//     setTls(options, TlsContext::client());                         // for connect()
//     MessageSocket dealer(SocketType::Dealer, options);
//     dealer.connect("tls://example.org:5555");                      // needs a certificate for example.org
//
//     setTls(options, TlsContext::server(identity));                 // for bind()
//
// libzmq has no such endpoints: both sides must use this library, or the other side must be behind a proxy that ends
// TLS. If a handshake fails, the monitor gets zmtp::Fault::TlsFailed, and a client tries again as after any failure.

#include "net/message/message_socket.h"
#include "net/tls/tls_context.h"

namespace flow::net {

/// Sets options.encryptConnection for the context of a client, or options.encryptListener for the context of a server.
void setTls(MessageOptions& options, Reference<TlsContext> context);

} // namespace flow::net
