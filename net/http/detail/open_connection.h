#pragma once
// openConnection(): connects to the host of a URL, through the proxy and with TLS if needed.

#include "net/http/client.h"

namespace flow::net::http::detail {

/// Fails with connection_timed_out after options->connectTimeout. `proxy`: the parsed options->proxy; null: no proxy.
Future<Encrypted> openConnection(std::shared_ptr<ClientOptions const> options, std::shared_ptr<Url const> proxy,
                                 Url url, bool mayBeHttp2);

} // namespace flow::net::http::detail
