#pragma once
// What tests of TLS have in common: the certificates that tools/certificates makes, and a handshake of two.

#include "net/tls/detail/tls_connection.h"
#include "tests/net/transport_suite.h"

#include <string>

namespace flow::test {

/// PEM files that tools/certificates has made: "ca" is ca.pem, and "server" has server.key as well.
std::string certificate(std::string const& name);
TlsIdentity identity(std::string const& name);

/// Trusts ca.
TlsClientOptions clientOptions();
/// Is server.
TlsServerOptions serverOptions();

/// How a handshake ends at both sides. Of one that has failed there is no connection.
struct Met {
    Reference<TlsConnection> client, server;
    Error ofClient, ofServer;
    std::string clientWhy, serverWhy;
};
/// Over a connection of the current loop's transport to the listener, or to one of its own.
Future<Met> meet(Reference<TlsContext> client, Reference<TlsContext> server, std::string name = "localhost",
                 Reference<Listener> listener = {});
Future<Met> meet(TlsClientOptions const& client, TlsServerOptions const& server, std::string name = "localhost");
/// One with the defaults, which has succeeded.
Future<Met> meet();

/// Runs the test on the real network, and on a simulated one where nothing may be left over.
void onBothNetworks(Future<Void> (*test)());

} // namespace flow::test
