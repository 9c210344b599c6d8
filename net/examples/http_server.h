#pragma once
// http_server: serves the files of a directory by HTTP/1.1.

#include "net/connection.h"
#include "net/examples/http/site.h"

struct HttpLimits {
    double idle = 15; // seconds to receive a whole request, and to send a part of the answer
    static constexpr std::uint64_t kPart = 65536; // bytes of a file in one read
    static constexpr double kRefusalSeconds = 1;  // seconds that a refused client has to read the reason
};

/// Serves until the client or the server ends the connection.
flow::Future<flow::Void> serveHttp(std::shared_ptr<Site const> site, HttpLimits limits,
                                   flow::Reference<flow::net::Connection> client);
