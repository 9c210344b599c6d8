#pragma once
// http_server: serves the files of a directory by HTTP/1.1.

#include "net/connection.h"
#include "net/examples/http/site.h"

struct HttpLimits {
    double idle = 15; // seconds for a request to come whole, and for a part of the answer to be taken
    static constexpr std::uint64_t kPart = 65536; // bytes of a file that are read at once
    static constexpr double kRefusalSeconds = 1;  // seconds that who was refused has to read why
};

/// Until the client, or the server, has ended the connection.
flow::Future<flow::Void> serveHttp(std::shared_ptr<Site const> site, HttpLimits limits,
                                   flow::Reference<flow::net::Connection> client);
