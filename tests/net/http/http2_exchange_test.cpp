#include "flow/combine/all.h"
#include "flow/trace/sink.h"
#include "flow/trace/tracer.h"
#include "tests/net/http/http2_support.h"
#include "tests/net/http/http_support.h"
#include "tests/net/serve_suite.h"

#include <algorithm>

namespace http2_exchange_test {
using namespace flow;
using namespace flow::test;
using namespace flow::test::http2;
namespace {

Future<Response> describe(Request request) {
    std::string body = co_await request.body.text(1000);
    Response response;
    response.headers.add("X-Method", request.method);
    response.headers.add("Connection", "keep-alive");
    std::string text = request.target + " " + std::string(request.headers.get("host")) + " " + body;
    if (request.body.trailers().has("x-sum"))
        text += " " + std::string(request.body.trailers().get("x-sum"));
    response.body = Body(text);
    co_return response;
}

/// Gives the pieces of a body back as they come, and the number of bytes behind them.
Future<Bytes> nextOf(std::shared_ptr<Body> body) {
    co_return co_await body->read();
}
Future<Response> echo(Request request) {
    auto body = std::make_shared<Body>(std::move(request.body));
    Response response;
    response.body = Body::stream([body] { return nextOf(body); });
    response.trailers.add("X-End", "yes");
    co_return response;
}

struct Ignored final : trace::SpanReceiver {
    void take(trace::SpanData&&) noexcept override {}
};

Body pieces(int count, int size) {
    auto left = std::make_shared<int>(count);
    return Body::stream([left, size]() -> Future<Bytes> {
        if ((*left)-- <= 0)
            return Bytes();
        return Bytes(StringRef(std::string(static_cast<std::size_t>(size), 'x')));
    });
}

} // namespace

TEST_CASE("http2: a request and its response") {
    simulated([]() -> Future<Void> {
        Server server(describe);
        Reference<Http2Client> client = server.client();
        CHECK(client->isOpen());
        ErrorOr<Response> got = co_await sent(client, "/a?b=c", "hello");
        REQUIRE(!got.isError());
        Response response = std::move(got.get());
        CHECK(response.status == 200);
        CHECK(response.version == Version::Http2);
        CHECK(response.headers.get("x-method") == "POST");
        CHECK(!response.headers.has("connection"));
        CHECK(response.headers.has("date"));
        CHECK(response.body.size() == 14);
        std::string text = co_await response.body.text(100);
        CHECK(text == "/a?b=c a hello");
        co_await delay(1);
        CHECK(client->streams() == 0);
        CHECK(server.counters.inFlight == 0);
        client = {};
        co_await tryGet(std::exchange(server.serving, {}));
    });
}

TEST_CASE("http2: an event says which request has failed, with its method, path and trace") {
    simulated([]() -> Future<Void> {
        Ignored spans;
        trace::Tracer tracer(spans);
        std::string traceId;
        auto handler = [&](Request request) -> Future<Response> {
            traceId = request.context.find(trace::kCurrentSpan)->context.traceId.toString();
            if (request.target.starts_with("/handler"))
                throw io_error();
            co_return response(Body::stream([]() -> Future<Bytes> { return io_error(); }));
        };
        ServerOptions options;
        options.tracer = &tracer;
        Server server(handler, options);
        Reference<Http2Client> client = server.client();
        TraceMemory log;
        for (std::string path : {"/handler", "/body"}) {
            Future<ErrorOr<Response>> asking = sent(client, path + "?secret=1", "hello");
            co_await std::move(asking);
            std::string details = R"("Method":"POST","Path":")" + path + R"(","Trace":")" + traceId + "\"";
            bool isLogged = std::any_of(log.lines().begin(), log.lines().end(), [&](std::string const& line) {
                return line.find(R"("Type":"ErrorDropped")") != line.npos && line.find(details) != line.npos;
            });
            CHECK_MESSAGE(isLogged, path);
        }
    });
}

TEST_CASE("http2: many requests at a time, on one connection") {
    simulated([]() -> Future<Void> {
        Server server([](Request request) -> Future<Response> {
            co_await delay(1);
            co_return response(Body(request.target));
        });
        Reference<Http2Client> client = server.client();
        std::vector<Future<ErrorOr<Response>>> all;
        for (int i = 0; i < 250; ++i)
            all.push_back(sent(client, "/" + std::to_string(i)));
        for (int i = 0; i < 250; ++i) {
            ErrorOr<Response> got = co_await std::move(all[static_cast<std::size_t>(i)]);
            REQUIRE(!got.isError());
            std::string text = co_await got.get().body.text(100);
            CHECK(text == "/" + std::to_string(i));
        }
        CHECK(now() == doctest::Approx(3)); // 100 streams at a time
        CHECK(client->mostStreams() == 100);
        CHECK(server.counters.requests == 250);
    });
}

TEST_CASE("http2: bodies of any size, both ways at once, with trailers") {
    simulated([]() -> Future<Void> {
        Server server(echo, {.bodyBytes = 100'000'000});
        Reference<Http2Client> client = server.client();
        ErrorOr<Response> got = co_await sent(client, "/", pieces(300, 10'000));
        REQUIRE(!got.isError());
        Response response = std::move(got.get());
        CHECK(!response.body.size());
        std::size_t bytes = 0;
        for (;;) {
            Bytes piece = co_await response.body.read();
            if (piece.empty())
                break;
            bytes += static_cast<std::size_t>(piece.size());
        }
        CHECK(bytes == 3'000'000);
        CHECK(response.body.trailers().get("x-end") == "yes");
    });
}

TEST_CASE("http2: a port takes both versions, and the first bytes decide") {
    onEachNetwork([]() -> Future<Void> {
        HttpServer server(describe);
        Reference<Connection> one = co_await server.connect(), two = co_await server.connect();
        Received first = co_await ask(one, "POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\none");
        CHECK(first.body == "/1 a one");
        Reference<Http2Client> client = Http2Client::over(std::exchange(two, {}), {});
        for (int i = 0; i < 3; ++i) {
            ErrorOr<Response> got = co_await sent(client, "/2", "two");
            REQUIRE(!got.isError());
            std::string text = co_await got.get().body.text(100);
            CHECK(text == "/2 a two");
        }
        server.stop.send(Void());
        co_await std::exchange(server.running, {});
        CHECK(!client->isOpen());
        CHECK(server.counters.requests == 4);
    });
}

TEST_CASE("http2: HEAD, and statuses without a body") {
    simulated([]() -> Future<Void> {
        Server server([](Request request) -> Future<Response> {
            co_return response("four", request.target == "/204" ? 204 : 200);
        });
        Reference<Http2Client> client = server.client();
        Request head;
        head.method = "HEAD";
        head.headers.add("Host", "a");
        Response response = co_await client->send(std::move(head));
        CHECK(response.headers.get("content-length") == "4");
        CHECK(response.body.isEmpty());
        ErrorOr<Response> none = co_await sent(client, "/204");
        CHECK(none.get().status == 204);
        CHECK(!none.get().headers.has("content-length"));
        CHECK(none.get().body.isEmpty());
    });
}

} // namespace http2_exchange_test
