#pragma once
// Request and Response: the two kinds of messages, at servers and at clients, in HTTP/1.1 and HTTP/2.
//
//     Future<Response> answer(Request request) {
//         if (request.method != "GET")
//             co_return Response{.status = 405, .headers = {{"Allow", "GET"}}};
//         std::string name = request.parameter("name").value_or("you");        // "/hello?name=Ann"
//         co_return Response{.headers = {{"Content-Type", "text/plain"}}, .body = "hello, " + name + "\n"};
//     }
//
// Both can be moved, not copied. The length of a body, chunks and the fields about the connection are the library's
// work: programs leave out Content-Length, Transfer-Encoding and Connection.

#include "flow/sync/event.h"
#include "net/http/body.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace flow::net::http {

enum class Version : std::uint8_t { Http10, Http11, Http2 };

/// The parts of a path that a pattern such as "/jobs/{id}" has named, decoded.
class PathParameters {
public:
    /// Returns the value; "" if there is none of this name.
    std::string_view operator[](std::string_view name) const;
    void add(std::string_view name, std::string value) { all_.emplace_back(name, std::move(value)); }

private:
    std::vector<std::pair<std::string, std::string>> all_;
};

/// How a connection is encrypted.
struct TlsFacts {
    std::string version = {}, cipher = {};
    std::string serverName = {};  // that the client has asked for (SNI)
    std::string peerSubject = {}; // of the other side's certificate; "" if it has none
    std::string protocol = {};    // that ALPN has chosen, such as "h2"; "" without ALPN
};

/// What is known of an exchange when it has ended: for logs and metrics. See ServerOptions::onEnd.
struct Exchange;

/// Returns the path in a target, without the query, as sent: "/jobs/7" in "/jobs/7?now=1" and in "http://a/jobs/7".
std::string_view pathOfTarget(std::string_view target);
/// Returns what follows "?" in a target, as sent.
std::string_view queryOfTarget(std::string_view target);
/// Replaces each "%41" by its byte; nothing if a "%" is followed by something else.
std::optional<std::string> decodePercent(std::string_view text);

struct Request {
    std::string method = "GET";
    std::string target = "/"; // as sent: "/jobs/7?now=1"
    Version version = Version::Http11;
    Headers headers = {};
    Body body = {};

    // Only at servers:
    PathParameters path = {};                 // filled by a Router
    Address peer = {};                        // the other side
    std::shared_ptr<TlsFacts const> tls = {}; // null if the connection is not encrypted
    Exchange* exchange = nullptr;             // valid until the handler has answered

    /// Returns the first value of a name in the query, decoded; nothing if the name is absent or wrongly encoded.
    std::optional<std::string> parameter(std::string_view name) const;
};

/// Takes a connection over after the status 101. The connection ends when the future is ready: in order, or with a
/// reset if it has failed. `ending` is set when the server begins to end.
using Upgrade = std::function<Future<Void>(Reference<Connection>, Event* ending)>;

struct Response {
    int status = 200;
    Headers headers = {};
    Body body = {};
    Headers trailers = {}; // sent behind a body of unknown size
    Upgrade upgrade = {};  // with status 101

    // Only at clients:
    Version version = Version::Http11;
    std::string url = {}; // of the request that was answered: after redirects, the last one's
};

/// Returns the words for a status: "Not Found" for 404; "" for one that has none.
std::string_view reasonOf(int status);

} // namespace flow::net::http
