#pragma once
// ClientConnection: what a client's pool keeps. It takes a request, and gives the answer.
//
// makeClientConnection() is the one place that decides which protocol a new connection speaks. In HTTP/1.1 send() holds
// the Lease until the answer has come and its body was read. A connection that several requests can use at the same
// time gives its Lease back as soon as the request is on its way: so the pool hands it to the next request, and
// isHealthy() is false when it has no room for a further one.

#include "net/http/client.h"
#include "net/pool.h"

namespace flow::net::http::detail {

struct ExchangeLimits {
    Seconds firstByte, idle; // see ClientOptions
    double deadline;         // on the loop's clock, for the whole exchange
    std::size_t headBytes, headFields;
    std::uint64_t bodyBytes;
};

/// One attempt to get an answer. It outlives the future of send(), but not the body of the answer.
struct Attempt {
    Request* request; // its method and headers
    Url const* url;
    Body body;         // send() moves it out
    std::string about; // "GET http://example.org/": for the sentences of errors
    ExchangeLimits limits;
    /// Set by send() if it has failed since the connection had ended, and nothing of an answer had come.
    bool wasUnanswered = false;
};

class ClientConnection : public ReferenceCounted<ClientConnection> {
public:
    using Lease = Pool<ClientConnection>::Lease;

    virtual ~ClientConnection() = default;
    /// Returns the answer. Its body keeps the connection and the lease. Dropping the future, or later the body, ends
    /// the exchange. Fails with retry() if the server has surely not handled the request.
    virtual Future<Response> send(Lease lease, Attempt* attempt) = 0;
    /// True if a further request may be sent.
    virtual bool isHealthy() = 0;
    virtual void abort() = 0;

    std::uint64_t requests = 0; // so far; the first one is not sent again if the connection ends
};

/// `protocol` is what ALPN has chosen; "" without it. Throws unsupported_operation.
Reference<ClientConnection> makeClientConnection(Reference<Connection> connection, std::string const& protocol,
                                                 bool isSecure, ClientOptions const& options);
Reference<ClientConnection> makeHttp1Client(Reference<Connection> connection);
Reference<ClientConnection> makeHttp2Client(Reference<Connection> connection, bool isSecure,
                                            ClientOptions const& options);
extern bool const kSpeaksHttp2; // false in a build without nghttp2

/// Returns the error with the sentence "ABOUT: " and its text.
Error errorAbout(std::string const& about, Error error);

} // namespace flow::net::http::detail
