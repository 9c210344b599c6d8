#include "net/http/detail/head.h"

#include "net/http/server.h"

#include <doctest/doctest.h>

using namespace flow;
using namespace flow::net;
using namespace flow::net::http;
using namespace flow::net::http::detail;

namespace {

struct Parsed {
    Refusal refusal;
    Framing framing;
    Request request;
};

Parsed parse(std::string_view head, std::size_t mostFields = 100) {
    Parsed parsed;
    parsed.refusal = parseRequest(Bytes(StringRef(head)), mostFields, parsed.request, parsed.framing);
    return parsed;
}

/// Returns the status with which a request with these lines is refused; 0 if it is taken.
int statusOf(std::string_view lines) {
    return parse("POST / HTTP/1.1\r\nHost: a\r\n" + std::string(lines) + "\r\n").refusal.status;
}
int statusOfLine(std::string_view line) {
    return parse(std::string(line) + "\r\nHost: a\r\n\r\n").refusal.status;
}

struct ParsedResponse {
    Refusal refusal;
    Framing framing;
    Response response;
};
ParsedResponse parseAnswer(std::string_view head, std::string_view method = "GET") {
    ParsedResponse parsed;
    parsed.refusal = parseResponse(Bytes(StringRef(head)), 100, method, parsed.response, parsed.framing);
    return parsed;
}

} // namespace

TEST_CASE("http head: a request is taken apart") {
    Parsed parsed = parse("GET /jobs/7?now=1 HTTP/1.1\r\nHost: example.org:80\r\nX:  a b \r\nEmpty:\r\n\r\n");
    CHECK(parsed.refusal.status == 0);
    CHECK(parsed.request.method == "GET");
    CHECK(parsed.request.target == "/jobs/7?now=1");
    CHECK(parsed.request.parameter("now") == "1");
    CHECK(parsed.request.version == Version::Http11);
    CHECK(parsed.request.headers.get("x") == "a b");
    CHECK(parsed.request.headers.get("empty", "absent") == "");
    CHECK(parsed.framing.kind == Framing::Kind::None);
    CHECK(parsed.framing.keepsAlive);
    CHECK(parse("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n").refusal.status == 0);
    CHECK(parse("\r\n\r\n").refusal.status == 400);
}

TEST_CASE("http head: the end of a body is known, or the request is refused") {
    CHECK(parse("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 12\r\n\r\n").framing.length == 12);
    CHECK(parse("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n").framing.kind ==
          Framing::Kind::Chunked);
    CHECK(statusOf("Content-Length: 0\r\n") == 0);
    CHECK(statusOf("Content-Length: 999999999999999999\r\n") == 0);
    for (char const* length : {"", "-1", "+1", "0x10", "1,1", "1, 1", "1 1", "1a", "1.0", "9999999999999999999"})
        CHECK(statusOf("Content-Length: " + std::string(length) + "\r\n") == 400);
    CHECK(statusOf("Content-Length: 5\r\nContent-Length: 5\r\n") == 400);
    CHECK(statusOf("Content-Length: 5\r\ncontent-length: 6\r\n") == 400);
    CHECK(statusOf("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n") == 400);
    CHECK(statusOf("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n") == 400);
    CHECK(statusOf("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n") == 400);
    for (char const* codings : {"gzip", "gzip, chunked", "chunked, gzip", "chunked, chunked", "identity", "",
                                "xchunked", "\"chunked\"", "chunked;a=b", "chunked,", ", chunked", "\vchunked"})
        CHECK(statusOf("Transfer-Encoding: " + std::string(codings) + "\r\n") ==
              (std::string(codings) == "\vchunked" ? 400 : 501));
    CHECK(parse("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n").refusal.status == 400);
}

TEST_CASE("http head: what two programs could read differently is refused") {
    CHECK(statusOf("X: a\n") == 400);          // bare LF
    CHECK(statusOf("X: a\nY: b\r\n") == 400);  // bare LF
    CHECK(statusOf("X: a\rY: b\r\n") == 400);  // bare CR
    CHECK(statusOf("X: a\r\r\n") == 400);      // bare CR
    CHECK(statusOf("X: a\r\n b\r\n") == 400);  // obs-fold
    CHECK(statusOf("X: a\r\n\tb\r\n") == 400); // obs-fold
    CHECK(statusOf(" X: a\r\n") == 400);
    CHECK(statusOf("X : a\r\n") == 400); // a blank before the colon
    CHECK(statusOf("Transfer-Encoding : chunked\r\n") == 400);
    CHECK(statusOf("Transfer-Encoding\t: chunked\r\n") == 400);
    CHECK(statusOf(std::string("X: a\0b\r\n", 8)) == 400);
    CHECK(statusOf(std::string("X\0: a\r\n", 7)) == 400);
    CHECK(statusOf("X: a\x7F\r\n") == 400);
    CHECK(statusOf("X\r\n") == 400);
    CHECK(statusOf(": a\r\n") == 400);
    CHECK(statusOf("X\xC3\xA4: a\r\n") == 400);
    CHECK(statusOf("X: \xC3\xA4\r\n") == 0);
    CHECK(statusOf("Host: a\r\n") == 400); // a second one
    CHECK(parse("GET / HTTP/1.1\r\n\r\n").refusal.status == 400);
    CHECK(parse("GET / HTTP/1.0\r\n\r\n").refusal.status == 0);
    CHECK(parse("GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n").refusal.status == 400);
    for (char const* host : {"a b", "a/b", "a@b", "a,b@", "a\tb", "<a>"})
        CHECK(parse("GET / HTTP/1.1\r\nHost: " + std::string(host) + "\r\n\r\n").refusal.status == 400);
    CHECK(parse("GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n").refusal.status == 0);
}

TEST_CASE("http head: the first line has one form") {
    for (char const* wrong : {"GET  / HTTP/1.1",
                              "GET /  HTTP/1.1",
                              "GET / HTTP/1.1 ",
                              " GET / HTTP/1.1",
                              "GET /",
                              "GET",
                              "GET\t/ HTTP/1.1",
                              "GET / a HTTP/1.1",
                              "G(T / HTTP/1.1",
                              "GET / http/1.1",
                              "GET / HTTP/1",
                              "GET / HTTP/11",
                              "GET a HTTP/1.1",
                              "GET * HTTP/1.1",
                              "GET /\xC3\xA4 HTTP/1.1",
                              "GET /#a HTTP/1.1",
                              "GET /\x01 HTTP/1.1",
                              "CONNECT / HTTP/1.1",
                              "CONNECT a HTTP/1.1",
                              ""})
        CHECK(statusOfLine(wrong) == 400);
    CHECK(statusOfLine("GET / HTTP/2.0") == 505);
    CHECK(statusOfLine("GET / HTTP/1.2") == 505);
    CHECK(statusOfLine("OPTIONS * HTTP/1.1") == 0);
    CHECK(statusOfLine("CONNECT a.example:443 HTTP/1.1") == 0);
    CHECK(statusOfLine("GET http://a/b?c HTTP/1.1") == 0);
    CHECK(statusOfLine("PURGE-1 /a%20b HTTP/1.1") == 0);
}

TEST_CASE("http head: connections and expectations") {
    auto keeps = [](char const* line) { return parse(std::string(line) + "\r\n").framing.keepsAlive; };
    CHECK(keeps("GET / HTTP/1.1\r\nHost: a\r\n"));
    CHECK_FALSE(keeps("GET / HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n"));
    CHECK_FALSE(keeps("GET / HTTP/1.0\r\n"));
    CHECK(keeps("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n"));
    CHECK_FALSE(keeps("GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n"));
    CHECK(parse("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: 100-Continue\r\n\r\n")
              .framing.expectsContinue);
    CHECK_FALSE(parse("PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n").framing.expectsContinue);
    CHECK(statusOf("Expect: more\r\n") == 417);
    CHECK(parse("GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\nY: 2\r\n\r\n", 2).refusal.status == 431);
    CHECK(parse("GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\n\r\n", 2).refusal.status == 0);
}

TEST_CASE("http head: a response is taken apart") {
    ParsedResponse parsed = parseAnswer("HTTP/1.1 404 Not here\r\nContent-Length: 3\r\n\r\n");
    CHECK(parsed.response.status == 404);
    CHECK(parsed.framing.length == 3);
    CHECK(parsed.framing.keepsAlive);
    CHECK(parseAnswer("HTTP/1.1 200\r\n\r\n").framing.kind == Framing::Kind::UntilEnd);
    CHECK_FALSE(parseAnswer("HTTP/1.1 200 \r\n\r\n").framing.keepsAlive);
    CHECK(parseAnswer("HTTP/1.0 200 OK\r\n\r\n").response.version == Version::Http10);
    for (char const* none : {"204 No Content", "304 Not Modified", "100 Continue"})
        CHECK(parseAnswer("HTTP/1.1 " + std::string(none) + "\r\nContent-Length: 3\r\n\r\n").framing.kind ==
              Framing::Kind::None);
    CHECK(parseAnswer("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", "HEAD").framing.kind == Framing::Kind::None);
    CHECK(parseAnswer("HTTP/1.1 200 OK\r\n\r\n", "CONNECT").framing.kind == Framing::Kind::None);
    for (char const* wrong : {"HTTP/1.1 20 OK", "HTTP/1.1 2000 OK", "HTTP/1.1  200 OK", "HTTP/1.1 2a0 OK", "HTTP/1.1",
                              "HTTP/3.1 200 OK", "ICY 200 OK", "HTTP/1.1 099 OK", "HTTP/1.1 200 O\nK"})
        CHECK(parseAnswer(std::string(wrong) + "\r\n\r\n").refusal);
    CHECK(parseAnswer("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n").refusal);
    CHECK(parseAnswer("HTTP/1.1 200 OK\r\nX : 3\r\n\r\n").refusal);
}

TEST_CASE("http head: the scheme of a target is compared without case") {
    Parsed parsed = parse("GET HTTP://a/b HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK_FALSE(parsed.refusal);
    CHECK(pathOfTarget(parsed.request.target) == "/b");
    CHECK_FALSE(parse("GET Https://a/b HTTP/1.1\r\nHost: a\r\n\r\n").refusal);
    CHECK(parse("GET htt://a/b HTTP/1.1\r\nHost: a\r\n\r\n").refusal);
}

TEST_CASE("http head: a first line alone") {
    CHECK_FALSE(checkRequestLine("GET / HTTP/1.1\r\n"));
    for (char const* wrong :
         {"GET / HTTP/1.1\n", "GET / HTTP/1.1", "\x16\x03\x01\n", "hello\r\n", "GET  / HTTP/1.1\r\n"})
        CHECK(checkRequestLine(wrong).status == 400);
}

TEST_CASE("http: a message has the fields that a program names; compilers do not miss the others") {
    CHECK(Response{.body = "text"}.status == 200);
    CHECK(Request{.method = "PUT"}.target == "/");
    CHECK(TlsFacts{.protocol = "h2"}.version == "");
    CHECK(Exchange{.status = 404}.route == "");
}

TEST_CASE("http head: targets have a path and a query") {
    CHECK(pathOfTarget("/a/b?c=d?e") == "/a/b");
    CHECK(queryOfTarget("/a/b?c=d?e") == "c=d?e");
    CHECK(pathOfTarget("http://a.example") == "/");
    CHECK(pathOfTarget("http://a.example?b") == "/");
    CHECK(pathOfTarget("http://a.example/b/c?d") == "/b/c");
    CHECK(pathOfTarget("*") == "*");
    CHECK(decodePercent("a%2fb%2F%25") == "a/b/%");
    CHECK_FALSE(decodePercent("a%2"));
    CHECK_FALSE(decodePercent("%zz"));
    Request request;
    request.target = "/?a=1&b=x+y%2B&a=2&c&=d&%61b=3&e+f=4";
    CHECK(request.parameter("a") == "1");
    CHECK(request.parameter("b") == "x y+");
    CHECK(request.parameter("c") == "");
    CHECK(request.parameter("ab") == "3");
    CHECK(request.parameter("e f") == "4");
    CHECK_FALSE(request.parameter("d"));
    CHECK(reasonOf(404) == "Not Found");
    CHECK(reasonOf(299) == "");
}
