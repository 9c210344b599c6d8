#pragma once
// http_server: serves the files of a directory by HTTP/1.1.

#include "flow/sync/event.h"
#include "net/connection.h"
#include "net/examples/http/site.h"

struct HttpLimits {
    double idle = 15; // seconds to receive a whole request, and to send one part of the answer
    static constexpr std::uint64_t kPart = 65536; // bytes of a file in one read
    static constexpr double kRefusalSeconds = 1;  // seconds for a refused client to read the reason
    /// While the server ends, a client may ask once more within so many seconds after an answer. The next answer says
    /// that the connection closes. So a client that asks again and again loses no request.
    static constexpr double kLastRequestSeconds = 0.1;
};

/// Serves until the client or the server ends the connection. When the server ends, a client that has sent nothing is
/// disconnected. A client that has sent a request, or a part of one, gets the answer. Fails if the client does not get
/// all of an answer: then the caller must reset the connection.
flow::Future<flow::Void> serveHttp(std::shared_ptr<Site const> site, HttpLimits limits,
                                   flow::Reference<flow::net::Connection> client, flow::Event* ending);
