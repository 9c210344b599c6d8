#include "net/http/compress.h"

#include "flow/coro/coroutine.h"
#include "flow/sim/sim_loop.h"
#include "flow/wait/delay.h"
#include "net/http/detail/accept_encoding.h"
#include "net/http/detail/content_types.h"
#include "net/http/detail/gzip.h"
#include "net/http/router.h"
#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

using namespace flow;
using namespace flow::net;
using namespace flow::net::http;

namespace http_compress_test {
namespace {

/// Returns the text that the program gzip finds in the bytes.
std::string unzipped(std::string const& bytes) {
    std::string name =
        (std::filesystem::temp_directory_path() / ("millrace-gz-" + std::to_string(::getpid()))).string();
    std::ofstream(name, std::ios::binary) << bytes;
    std::FILE* pipe = ::popen(("gzip -dc < " + name).c_str(), "r");
    REQUIRE(pipe);
    std::string all;
    char piece[4096];
    while (std::size_t count = std::fread(piece, 1, sizeof piece, pipe))
        all.append(piece, count);
    CHECK(::pclose(pipe) == 0);
    std::filesystem::remove(name);
    return all;
}

struct Answer {
    int status = 0;
    Headers headers = {};
    std::optional<std::uint64_t> size = {};
    std::string body = {};
    int pieces = 0;
};

Future<Answer> ask(Handler const* handler, std::string takes) {
    Request request;
    if (!takes.empty())
        request.headers.add("Accept-Encoding", takes);
    Response response = co_await (*handler)(std::move(request));
    Answer answer{.status = response.status, .headers = response.headers, .size = response.body.size()};
    for (;;) {
        Bytes piece = co_await response.body.read();
        if (piece.empty())
            break;
        answer.body += piece.toStringView();
        ++answer.pieces;
    }
    co_return answer;
}

/// Answers always with this response, whose body is bytes.
Handler fixed(int status, Headers headers, std::string body) {
    return [=](Request) -> Future<Response> {
        Response response;
        response.status = status;
        response.headers = headers;
        response.body = body;
        return response;
    };
}

std::string textOf(std::size_t size) {
    std::string text;
    for (int i = 0; text.size() < size; ++i)
        text += std::to_string(i * 7) + " ";
    text.resize(size);
    return text;
}

Headers const kText = {{"Content-Type", "text/plain"}, {"ETag", "\"a\""}, {"Accept-Ranges", "bytes"}};

Answer answerOf(Handler const& inner, std::string const& takes = "gzip", CompressOptions options = {}) {
    SimLoop loop;
    Handler handler = compressed(inner, options);
    return loop.run(ask(&handler, takes));
}

} // namespace

TEST_CASE("http compress: clients that take gzip") {
    using http::detail::acceptsGzip;
    for (char const* yes : {"gzip", "GZIP", "x-gzip", "br, gzip", "gzip;q=0.001", "*", "*;q=0.5", "gzip ; q=1.0 ,br",
                            "identity;q=0.5, gzip;q=0.5", "gzip;Q=1", "identity;q=0, gzip", "gzip;q=1."})
        CHECK_MESSAGE(acceptsGzip(yes), yes);
    for (char const* no : {"", "br", "gzip;q=0", "gzip;q=0.000", "*;q=0", "*, gzip;q=0", "identity", "gzip;q=x",
                           "identity, gzip;q=0.5", "gzip;q=2", "gzip;q=-1", "gzip;q=0.1234", "gzip;q=1.001", "gzipped"})
        CHECK_MESSAGE(!acceptsGzip(no), no);
}

TEST_CASE("http compress: which types") {
    for (char const* yes : {"text/html", "Text/Plain; charset=utf-8", "application/json", "image/svg+xml ;x",
                            "application/problem+json", "application/wasm"})
        CHECK_MESSAGE(http::detail::isCompressibleType(yes), yes);
    for (char const* no : {"", "image/png", "application/octet-stream", "application/gzip", "video/mp4", "font/woff2"})
        CHECK_MESSAGE(!http::detail::isCompressibleType(no), no);
    CHECK(http::detail::contentTypeOf("a/b.HTML") == "text/html; charset=utf-8");
    CHECK(http::detail::contentTypeOf("a.tar.gz") == "application/gzip");
    for (char const* unknown : {"", "html", "a.html/b", "a/.", "x.unknown", "a."})
        CHECK(http::detail::contentTypeOf(unknown) == "application/octet-stream");
}

TEST_CASE("http compress: without zlib an error says so") {
    if (canCompress())
        return;
    CHECK_THROWS_AS(compressed(fixed(200, {}, "")), Error);
}

TEST_CASE("http compress: a body becomes smaller") {
    if (!canCompress())
        return;
    for (std::size_t size : {std::size_t{1024}, std::size_t{40'000}, std::size_t{1'000'000}}) {
        std::string text = textOf(size);
        Answer answer = answerOf(fixed(200, kText, text));
        CHECK(answer.status == 200);
        CHECK(answer.headers.get("Content-Encoding") == "gzip");
        CHECK(answer.headers.get("Vary") == "Accept-Encoding");
        CHECK(answer.headers.get("ETag") == "W/\"a\"");
        CHECK(!answer.headers.has("Accept-Ranges"));
        CHECK(!answer.size);
        CHECK(answer.body.size() < size / 2);
        CHECK(unzipped(answer.body) == text);
    }
}

TEST_CASE("http compress: what stays as it is") {
    if (!canCompress())
        return;
    auto stays = [](int status, Headers headers, std::string body, std::string const& takes = "gzip") {
        Answer answer = answerOf(fixed(status, std::move(headers), body), takes);
        CHECK(answer.body == body);
        CHECK(!(answer.headers.get("Content-Encoding") == "gzip"));
        return answer.headers.has("Vary");
    };
    std::string text = textOf(2000);
    CHECK(stays(200, kText, text, ""));
    CHECK(stays(200, kText, text, "gzip;q=0"));
    CHECK(stays(304, kText, ""));
    CHECK(!stays(206, kText, text));
    CHECK(!stays(200, kText, textOf(1023)));
    CHECK(!stays(200, {{"Content-Type", "image/png"}}, text));
    CHECK(!stays(200, {}, text));
    CHECK(!stays(200, {{"Content-Type", "text/plain"}, {"Content-Encoding", "br"}}, text));
    CHECK(!stays(200, {{"Content-Type", "text/plain"}, {"Cache-Control", "private, no-transform"}}, text));
    Answer small = answerOf(fixed(200, kText, "aaaa"), "gzip", {.leastBytes = 1});
    CHECK(small.headers.has("Content-Encoding"));
    CHECK(unzipped(small.body) == "aaaa");
}

TEST_CASE("http compress: of a stream each piece arrives at once") {
    if (!canCompress())
        return;
    test::Balance balance;
    SimLoop loop;
    Handler handler = compressed([](Request) -> Future<Response> {
        Response response;
        response.headers = {{"Content-Type", "text/event-stream"}};
        auto count = std::make_shared<int>(0);
        auto next = [](std::shared_ptr<int> count) -> Future<Bytes> {
            co_await delay(1);
            std::string piece = "piece " + std::to_string(*count);
            co_return ++*count > 5 ? Bytes() : Bytes(StringRef(piece));
        };
        response.body = Body::stream([=] { return next(count); });
        return response;
    });
    auto run = [](Handler const* from) -> Future<Void> {
        Request request;
        request.headers.add("Accept-Encoding", "gzip");
        Response response = co_await (*from)(std::move(request));
        std::string all;
        for (int i = 0; i < 5; ++i) {
            double before = now();
            Bytes piece = co_await response.body.read();
            CHECK(!piece.empty());
            CHECK(now() == before + 1);
            all += piece.toStringView();
        }
        Bytes last = co_await response.body.read();
        all += last.toStringView();
        CHECK(unzipped(all) == "piece 0piece 1piece 2piece 3piece 4");
        Bytes end = co_await response.body.read();
        CHECK(end.empty());
    };
    loop.run(run(&handler));
    auto dropped = [](Handler const* from) -> Future<Void> {
        Request request;
        request.headers.add("Accept-Encoding", "gzip");
        Response response = co_await (*from)(std::move(request));
        Future<Bytes> reading = response.body.read();
        co_await delay(0.5);
    };
    loop.run(dropped(&handler));
}

TEST_CASE("http compress: a router") {
    if (!canCompress())
        return;
    SimLoop loop;
    Router router;
    router.add("GET", "/", fixed(200, kText, textOf(2000)));
    HandlerToTheEnd handler = compressed(router);
    Handler plain = [&](Request request) { return handler(std::move(request), nullptr); };
    Answer answer = loop.run(ask(&plain, "gzip"));
    CHECK(unzipped(answer.body) == textOf(2000));
}

TEST_CASE("http compress: wrong options") {
    if (!canCompress())
        return;
    try {
        compressed(fixed(200, {}, ""), {.level = 10});
        FAIL("taken");
    } catch (Error const& error) {
        CHECK(error == invalid_option_value());
        CHECK(std::string(error.what()) == "CompressOptions: level is 10; it must be from 1 to 9");
    }
}

} // namespace http_compress_test
