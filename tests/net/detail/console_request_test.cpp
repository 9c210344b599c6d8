#include "net/detail/console_request.h"

#include <doctest/doctest.h>

#include <string>

using namespace flow::console;

namespace console_request_test {
namespace {

/// Returns true if a request with these fields is answered.
bool isTaken(std::string const& fields) {
    return !refuseForeign("GET /metrics HTTP/1.1\r\n" + fields + "\r\n\r\n", {"metrics.example"});
}

} // namespace

TEST_CASE("console request: the path and the query, or the answer to what is none") {
    ConsoleRequest request;
    CHECK_FALSE(readRequest("GET /trace?seconds=1 HTTP/1.1\r\n\r\n", request));
    CHECK(request.path == "/trace");
    CHECK(request.query == "seconds=1");
    CHECK(readRequest("PUT / HTTP/1.1\r\n\r\n", request)->status == std::string("405 Method Not Allowed"));
    for (char const* bad : {"", "\r\n\r\n", "GET / HTTP/2\r\n\r\n", "GET /\r\n\r\n"})
        CHECK(readRequest(bad, request)->status == std::string("400 Bad Request"));
}

TEST_CASE("console request: Host is an address, localhost or a name that was given") {
    for (char const* host : {"127.0.0.1", "127.0.0.1:9100", "[::1]", "[::1]:9100", "localhost", "LocalHost:9100",
                             "metrics.example", "Metrics.Example:80", "10.0.0.1:1"})
        CHECK_MESSAGE(isTaken("host:  " + std::string(host) + " "), host);
    for (char const* host :
         {"", "evil.example", "evil.example:9100", "127.0.0.1.evil.example", "localhost.evil.example", "unix:/run/x",
          "[::1", "xmetrics.example", ":", "[]", "127.0.0.1:1:2"})
        CHECK_FALSE_MESSAGE(isTaken("Host: " + std::string(host)), host);
    CHECK_FALSE(isTaken("Accept: */*"));
    CHECK_FALSE(isTaken("Host: localhost\r\nHost: localhost"));
    CHECK_FALSE(refuseForeign("GET / HTTP/1.1", {}) == std::nullopt);
}

TEST_CASE("console request: a page of another site gets nothing") {
    CHECK(isTaken("Host: localhost:9100\r\nOrigin: http://localhost:9100\r\nSec-Fetch-Site: same-origin"));
    CHECK(isTaken("Host: localhost:9100\r\nSec-Fetch-Site: none"));
    CHECK_FALSE(isTaken("Host: localhost:9100\r\nSec-Fetch-Site: cross-site"));
    CHECK_FALSE(isTaken("Host: localhost:9100\r\nOrigin: http://localhost:80"));
    CHECK_FALSE(isTaken("Host: localhost:9100\r\nORIGIN: null"));
    auto refused = refuseForeign("GET / HTTP/1.1\r\nHost: a\r\n\r\n", {});
    REQUIRE(refused);
    CHECK(refused->status == std::string("403 Forbidden"));
    CHECK(refused->body.starts_with("the field Host must be an address"));
}

} // namespace console_request_test
