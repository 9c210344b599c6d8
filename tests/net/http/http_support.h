#pragma once
// Helpers for the tests of HTTP: a server on the transport of the current loop, and a client that is written by hand.

#include "flow/core/future.h"
#include "net/http/server.h"
#include "net/transport.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace flow::test {

/// A server that runs as long as this exists, or until stop().
class HttpServer {
public:
    explicit HttpServer(net::http::HandlerToTheEnd handler, net::http::ServerOptions options = {});
    explicit HttpServer(net::http::Handler handler, net::http::ServerOptions options = {});
    Future<Reference<net::Connection>> connect() const { return net::transport().connect(listener->localAddress()); }

    Promise<Void> stop;
    Reference<net::Listener> listener;
    net::http::ServerCounters counters;
    Future<Void> running;
};

/// A response, whole.
struct Received {
    int status = 0;
    net::http::Headers headers, trailers;
    std::string body;
};

/// Reads one response.
Future<Received> receive(Reference<net::Connection> connection, std::string method = "GET");
/// Writes the bytes and reads one response.
Future<Received> ask(Reference<net::Connection> connection, std::string bytes);
/// Connects, writes the bytes, and reads all until the end.
Future<std::string> talk(HttpServer* server, std::string bytes);
/// "GET /target HTTP/1.1" with a Host, and these further lines.
std::string get(std::string target, std::string lines = "");

/// Collects the names and sentences of errors that are reported as dropped while this exists.
class Dropped {
public:
    Dropped();
    Dropped(Dropped const&) = delete;
    Dropped& operator=(Dropped const&) = delete;
    ~Dropped();

    static inline std::vector<std::string> all;

private:
    DroppedErrorHandler before_;
};

/// A handler that answers with the method, the target and the body.
Future<net::http::Response> repeat(net::http::Request request);

} // namespace flow::test
