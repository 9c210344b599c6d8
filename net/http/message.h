#pragma once
// Request and Response: the messages of HTTP/1.1 and HTTP/2, for servers and clients.
//
//     Future<Response> answer(Request request) {
//         if (request.method != "GET")
//             co_return Response{.status = 405, .headers = {{"Allow", "GET"}}};
//         std::string name = request.parameter("name").value_or("you");        // "/hello?name=Ann"
//         co_return Response{.headers = {{"Content-Type", "text/plain"}}, .body = "hello, " + name + "\n"};
//     }
//
// Both can be moved, not copied. Programs set no Content-Length, Transfer-Encoding or Connection: the library does.

#include "flow/sync/event.h"
#include "flow/trace/request_value.h"
#include "net/http/body.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace flow::net::http {

enum class Version : std::uint8_t { Http10, Http11, Http2 };

/// The decoded values of the names in a pattern such as "/jobs/{id}".
class PathParameters {
public:
    /// Returns the value; "" if the pattern has no part of this name.
    std::string_view operator[](std::string_view name) const;
    void add(std::string_view name, std::string value) { all_.emplace_back(name, std::move(value)); }

private:
    std::vector<std::pair<std::string, std::string>> all_;
};

struct TlsFacts {
    std::string version = {}, cipher = {};
    std::string serverName = {};  // the name in the client's SNI
    std::string peerSubject = {}; // of the peer's certificate; "" without one
    std::string protocol = {};    // chosen by ALPN, such as "h2"; "" without ALPN
};

/// A request and its answer, for logs and metrics: see ServerOptions::onEnd.
struct Exchange;

/// Returns the path in a target, without the query, as sent: "/jobs/7" in "/jobs/7?now=1" and in "http://a/jobs/7".
std::string_view pathOfTarget(std::string_view target);
std::string_view queryOfTarget(std::string_view target);
/// Replaces each "%XX" by its byte. Returns nothing if a "%" is not followed by two hexadecimal digits.
std::optional<std::string> decodePercent(std::string_view text);

struct Request {
    std::string method = "GET";
    std::string target = "/"; // as sent: "/jobs/7?now=1"
    Version version = Version::Http11;
    Headers headers = {};
    Body body = {};
    RequestContext context = {}; // values of the request, such as its span; only the ids of the span are sent

    // Only at servers:
    PathParameters path = {};                 // filled by a Router
    Address peer = {};                        // the other side
    std::shared_ptr<TlsFacts const> tls = {}; // null if the connection is not encrypted
    Exchange* exchange = nullptr;             // valid until the handler has answered

    /// Returns the first value of a name in the query, decoded; nothing if there is none, or if it is wrongly encoded.
    std::optional<std::string> parameter(std::string_view name) const;
};

/// Uses the connection after the status 101. When the future is ready, the connection is closed; when it has failed,
/// the connection is reset. `ending` is set when the server begins to end.
using Upgrade = std::function<Future<Void>(Reference<Connection>, Event* ending)>;

struct Response {
    int status = 200;
    Headers headers = {};
    Body body = {};
    Headers trailers = {}; // sent after a body of unknown size
    Upgrade upgrade = {};  // with status 101

    // Only at clients:
    Version version = Version::Http11;
    std::string url = {}; // the last URL after redirects
};

/// Returns the reason phrase: "Not Found" for 404; "" for an unknown status.
std::string_view reasonOf(int status);

} // namespace flow::net::http
