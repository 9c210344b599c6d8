#pragma once
// ClientConnection: a connection in a client's pool. It sends a request and returns the answer.
//
// makeClientConnection() chooses the protocol. In HTTP/1.1 send() holds the Lease until the body of the answer was
// read. In HTTP/2 send() returns the Lease at once, so the pool gives the connection to the next request too;
// isHealthy() is false when the connection has no room for another request.

#include "net/http/client.h"
#include "net/pool.h"

namespace flow::net::http::detail {

struct ExchangeLimits {
    Seconds firstByte, idle; // see ClientOptions
    double deadline;         // of the whole exchange, on the loop's clock
    std::size_t headBytes, headFields;
    std::uint64_t bodyBytes;
};

/// One attempt to get an answer. It must outlive the future of send(); the answer's body does not use it.
struct Attempt {
    Request* request; // only its method and headers are used
    Url const* url;
    Body body;         // send() moves it out
    std::string about; // "GET http://example.org/": begins the texts of errors
    ExchangeLimits limits;
    /// Set by send() if it failed because the connection ended before any byte of the answer.
    bool wasUnanswered = false;
};

class ClientConnection : public ReferenceCounted<ClientConnection> {
public:
    using Lease = Pool<ClientConnection>::Lease;

    virtual ~ClientConnection() = default;
    /// Returns the answer. Its body holds the connection and the lease. Dropping the future, or later the body, ends
    /// the exchange. Fails with retry() if the server has certainly not processed the request.
    virtual Future<Response> send(Lease lease, Attempt* attempt) = 0;
    virtual bool isHealthy() = 0;
    virtual void abort() = 0;

    std::uint64_t requests = 0; // sent so far; the first one of a connection is not sent again
};

/// Makes the client of the protocol that ALPN has chosen; "" without ALPN. Throws unsupported_operation.
Reference<ClientConnection> makeClientConnection(Reference<Connection> connection, std::string const& protocol,
                                                 bool isSecure, ClientOptions const& options);
Reference<ClientConnection> makeHttp1Client(Reference<Connection> connection);
Reference<ClientConnection> makeHttp2Client(Reference<Connection> connection, bool isSecure,
                                            ClientOptions const& options);
extern bool const kSpeaksHttp2; // false in a build without nghttp2

/// Returns the error with "ABOUT: " before its text.
Error errorAbout(std::string const& about, Error error);

} // namespace flow::net::http::detail
