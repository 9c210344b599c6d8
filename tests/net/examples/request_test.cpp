// How the HTTP example reads requests, and what their bytes cost it.
#include "net/examples/http/request.h"

#include "net/examples/http/site.h"
#include "tests/net/costs.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>

using namespace flow;
using namespace flow::test;

namespace {

/// The requests in it, as "GET /path" or the status of their refusal; after that nothing more is read.
std::string requestsIn(std::string const& bytes, std::size_t atATime) {
    RequestReader reader;
    std::string all;
    for (std::size_t at = 0; at < bytes.size(); at += atATime) {
        reader.add(StringRef(bytes.substr(at, atATime)));
        for (; reader.isWhole(); reader.next()) {
            HttpRequest const& request = reader.request();
            all += all.empty() ? "" : ", ";
            if (request.failure != 0)
                return all + std::to_string(request.failure);
            all += request.method + " " + request.path;
        }
    }
    return all + (reader.hasBegun() ? ", more" : "");
}

std::string const kHost = "Host: x\r\n";
std::string const kInner = "GET /inner HTTP/1.1\r\nHost: x\r\n\r\n";

} // namespace

TEST_CASE("http request: where another server could find another end, it is refused, and nothing behind it is read") {
    std::string post = "POST / HTTP/1.1\r\n" + kHost, body = "\r\n\r\n0\r\n\r\n" + kInner;
    for (std::size_t atATime : {1, 7, 10'000}) {
        for (char const* codings :
             {"xchunked", "identity", "chunked, identity", "chunked, gzip", "\"chunked\"", "chunkedx", "gzip",
              "chunked, chunked", "chunked;q=1", "chunked,", "", "gzip, chunkedx", "chunked\x0B"}) {
            INFO("'", codings, "', ", atATime, " bytes at a time");
            CHECK(requestsIn(post + "Transfer-Encoding: " + codings + body, atATime) == "400");
        }
        std::string chunked = "Transfer-Encoding: chunked";
        CHECK(requestsIn(post + chunked + "\r\n" + chunked + body, atATime) == "400");
        CHECK(requestsIn(post + "Content-Length: 4\r\n" + chunked + body, atATime) == "400");
        CHECK(requestsIn(post + chunked + "\r\nContent-Length: 4" + body, atATime) == "400");
        CHECK(requestsIn("POST / HTTP/1.0\r\nConnection: keep-alive\r\n" + chunked + body, atATime) == "400");
        CHECK(requestsIn(post + chunked + body, atATime) == "POST /, GET /inner");
        CHECK(requestsIn(post + "Transfer-Encoding: \t Chunked \t" + body, atATime) == "POST /, GET /inner");
        CHECK(requestsIn(post + "Transfer-Encoding: gzip, chunked" + body, atATime) == "POST /, GET /inner");
    }
}

TEST_CASE("http request: empty lines before a request are no part of it") {
    std::string get = "GET / HTTP/1.1\r\n" + kHost + "\r\n";
    for (std::size_t atATime : {1, 2, 3, 10'000}) {
        CHECK(requestsIn("\r\n" + get + "\r\n\r\n" + get, atATime) == "GET /, GET /");
        CHECK(requestsIn(get + "\r\n\r\n", atATime) == "GET /");
        CHECK(requestsIn("\r\r" + get, atATime) == "400");
        CHECK(requestsIn("\n" + get, atATime) == "400");
    }
}

TEST_CASE("http request: targets") {
    auto pathOf = [](std::string const& target) {
        std::string path;
        return decodePath(target, path) ? path : "none";
    };
    CHECK(pathOf("/a%20b?c#d") == "/a b");
    CHECK(pathOf("http://a") == "/");
    CHECK(pathOf("HTTP://a/index.html?x") == "/index.html");
    CHECK(pathOf("https://a:80/b") == "/b");
    CHECK(pathOf("http://a?/b") == "/");
    CHECK(pathOf("http://a#/b") == "/");
    for (char const* wrong : {"", "a", "*", "http://", "http:///b", "http:/b", "ftp://a/b", "/%0", "/%00"})
        CHECK(pathOf(wrong) == "none");
}

TEST_CASE("http request: bytes are moved a few times at most, and need little memory") {
    auto few = [](std::string const& one, std::size_t bytes) {
        std::string all;
        while (all.size() < bytes)
            all += one;
        return all;
    };
    std::string chunks =
        "POST / HTTP/1.1\r\n" + kHost + "Transfer-Encoding: chunked\r\n\r\n" + few("1\r\nx\r\n", 60'000) + "0\r\n\r\n";
    for (std::string const& one : {std::string("GET / HTTP/1.1\r\nHost:x\r\n\r\n"), chunks, std::string("\r\n")}) {
        auto moved = [&](std::size_t bytes) {
            std::string all = few(one, bytes);
            return movedBytes([&] { requestsIn(all, 64 * 1024); });
        };
        std::size_t once = moved(1 << 20), twice = moved(2 << 20);
        CHECK(once <= 2 << 20);
        CHECK(static_cast<double>(twice) <= 2.2 * static_cast<double>(once) + 100'000);
    }
    std::string cut = chunks.substr(0, chunks.size() - 100);
    std::int64_t before = usedBytes();
    RequestReader reader;
    reader.add(StringRef(cut));
    CHECK(!reader.isWhole());
    CHECK(usedBytes() - before <= 4 * static_cast<std::int64_t>(cut.size()) + 64 * 1024);
}
