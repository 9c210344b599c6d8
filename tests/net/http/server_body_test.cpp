// What goes in and out: bodies of requests, and responses of each kind.

#include "flow/coro/coroutine.h"
#include "flow/trace/sink.h"
#include "flow/trace/tracer.h"
#include "flow/wait/delay.h"
#include "tests/net/http/http_support.h"
#include "tests/net/serve_suite.h"

#include <doctest/doctest.h>

using namespace flow;
using namespace flow::net;
using namespace flow::net::http;
using namespace flow::test;

namespace {

/// Gives "0", "1" and so on.
NextPiece counting(int pieces) {
    auto at = std::make_shared<int>(0);
    return [=]() -> Future<Bytes> { return *at < pieces ? Bytes(StringRef(std::to_string((*at)++))) : Bytes(); };
}

Future<Response> kinds(Request request) {
    std::string path(pathOfTarget(request.target));
    Response response;
    response.headers.add("Content-Type", "text/plain");
    if (path == "/bytes") {
        response.body = "hello";
    } else if (path == "/stream") {
        response.body = Body::stream(counting(5));
        response.trailers.add("Sum", "10");
    } else if (path == "/sized") {
        response.body = Body::stream(counting(5), 5);
    } else if (path == "/short") {
        response.body = Body::stream(counting(5), 6);
    } else if (path == "/empty") {
        response.status = 204;
    } else if (path == "/same") {
        response.status = 304;
        response.headers.add("Content-Length", "77");
    } else if (path == "/length") {
        response.headers.add("Content-Length", request.method == "HEAD" ? "77" : "5");
        if (request.method != "HEAD")
            response.body = "hello";
    } else if (path == "/close") {
        response.headers.add("Connection", "close");
    } else if (path == "/echo") {
        response.body = std::move(request.body);
    } else if (path == "/large") {
        response.body = std::string(1 << 20, 'x');
    } else if (path == "/ignore") {
        response.body = "ignored";
    } else if (path == "/wrong-length") {
        response.headers.add("Content-Length", "4");
        response.body = "hello";
    } else if (path == "/two-lengths") {
        response.headers.add("Content-Length", "5");
        response.headers.add("Content-Length", "5");
        response.body = "hello";
    } else if (path == "/coding") {
        response.headers.add("Transfer-Encoding", "chunked");
        response.body = "hello";
    } else if (path == "/status") {
        response.status = 99;
    } else if (path == "/throw") {
        throw io_error();
    } else if (path == "/small-text") {
        response.body = co_await request.body.text(3);
    }
    co_return response;
}

Future<Void> responses() {
    HttpServer server(kinds);
    Reference<Connection> client = co_await server.connect();
    for (char const* version : {"1.1", "1.0\r\nConnection: keep-alive"})
        for (std::string method : {"GET ", "HEAD "}) {
            std::string end = std::string(" HTTP/") + version + "\r\nHost: a\r\n\r\n";
            bool isHead = method == "HEAD ", isNew = std::string(version) == "1.1";
            Received bytes = co_await ask(client, method + "/bytes" + end);
            CHECK(bytes.body == (isHead ? "" : "hello"));
            CHECK(bytes.headers.get("Content-Length") == "5");
            Received length = co_await ask(client, method + "/length" + end);
            CHECK(length.headers.get("Content-Length") == (isHead ? "77" : "5"));
            Received sized = co_await ask(client, method + "/sized" + end);
            CHECK(sized.body == (isHead ? "" : "01234"));
            CHECK(sized.headers.get("Content-Length") == "5");
            Received empty = co_await ask(client, method + "/empty" + end);
            CHECK(empty.status == 204);
            CHECK_FALSE(empty.headers.has("Content-Length"));
            Received same = co_await ask(client, method + "/same" + end);
            CHECK(same.headers.get("Content-Length") == "77");
            Received stream = co_await ask(client, method + "/stream" + end);
            CHECK(stream.body == (isHead ? "" : "01234"));
            CHECK(stream.headers.hasToken("Transfer-Encoding", "chunked") == (!isHead && isNew));
            CHECK(stream.trailers.get("Sum") == (!isHead && isNew ? "10" : ""));
            if (!isHead && !isNew) {
                CHECK(stream.headers.get("Connection") == "close");
                client = co_await server.connect();
            }
        }
    Received large = co_await ask(client, get("/large"));
    CHECK(large.body.size() == 1 << 20);
    Received closing = co_await ask(client, get("/close"));
    CHECK(closing.headers.get("Connection") == "close");
    Bytes end = co_await client->read();
    CHECK(end.empty());
}

Future<Void> mistakes() {
    Dropped dropped;
    HttpServer server(kinds);
    for (char const* path : {"/wrong-length", "/two-lengths", "/coding", "/status"}) {
        std::string all = co_await talk(&server, get(path));
        CHECK(all.starts_with("HTTP/1.1 500 Internal Server Error\r\n"));
        CHECK(all.find("\r\nConnection: close\r\n") != std::string::npos);
    }
    Reference<Connection> client = co_await server.connect();
    Received failed = co_await ask(client, get("/throw"));
    CHECK(failed.status == 500);
    Received next = co_await ask(client, get("/bytes"));
    CHECK(next.body == "hello");
    (void)client->write(StringRef(get("/short")));
    Error error;
    try {
        Received cut = co_await receive(client);
    } catch (Error& thrown) {
        error = thrown;
    }
    CHECK(isConnectionError(error));
    CHECK(Dropped::all == std::vector<std::string>{
                              "invalid_option_value: the response cannot be sent: its Content-Length is not the "
                              "length of its body",
                              "invalid_option_value: the response cannot be sent: it has several lengths",
                              "invalid_option_value: the response cannot be sent: it has a Transfer-Encoding",
                              "invalid_option_value: the response cannot be sent: its status is not in 200 .. 999, "
                              "and it is no upgrade with status 101",
                              "io_error: input or output failed",
                              "operation_failed: a body has not the size that it has promised"});
}

struct Ignored final : trace::SpanReceiver {
    void take(trace::SpanData&&) noexcept override {}
};

/// The events "ErrorDropped" of a log.
std::vector<std::string> droppedIn(TraceMemory const& log) {
    std::vector<std::string> found;
    for (std::string const& line : log.lines())
        if (line.find(R"("Type":"ErrorDropped")") != line.npos)
            found.push_back(line);
    return found;
}

/// Expects one event for each failed body of a response after its head was sent. The client must not have caused it.
Future<Void> failingBodies() {
    Ignored spans;
    trace::Tracer tracer(spans);
    std::string traceId;
    auto handler = [&](Request request) -> Future<Response> {
        traceId = request.context.find(trace::kCurrentSpan)->context.traceId.toString();
        Response response;
        if (request.target.starts_with("/fails"))
            response.body = Body::stream([]() -> Future<Bytes> {
                co_await delay(0.1);
                throw io_error();
            });
        else if (request.target.starts_with("/short"))
            response.body = Body::stream(counting(5), 6);
        else
            response.body = std::move(request.body);
        co_return response;
    };
    ServerOptions options;
    options.tracer = &tracer;
    HttpServer server(handler, options);
    TraceMemory log;
    for (std::string path : {"/fails", "/short"}) {
        std::size_t before = droppedIn(log).size();
        ErrorOr<std::string> cut = co_await tryGet(talk(&server, get(path + "?secret=1")));
        CHECK(cut.isError());
        std::vector<std::string> dropped = droppedIn(log);
        REQUIRE(dropped.size() == before + 1);
        std::string details = R"("Method":"GET","Path":")" + path + R"(","Trace":")" + traceId + "\"";
        CHECK_MESSAGE(dropped.back().find(details) != std::string::npos, dropped.back());
        CHECK(dropped.back().find("the body of a response of http::serve()") != std::string::npos);
    }
    std::string chunks =
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nno length\r\n";
    ErrorOr<std::string> wrong = co_await tryGet(talk(&server, chunks));
    CHECK(wrong.isError());
    CHECK(droppedIn(log).size() == 2);
}

Future<Void> requestBodies() {
    Dropped dropped;
    HttpServer server(kinds, {.bodyBytes = 1 << 20});
    Reference<Connection> client = co_await server.connect();
    auto put = [](std::string path, std::size_t size) {
        return "PUT " + path + " HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n" +
               std::string(size, 'b');
    };
    Received skipped = co_await ask(client, put("/ignore", 60'000));
    CHECK(skipped.body == "ignored");
    Received chunks = co_await ask(client, "PUT /ignore HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                                           "3\r\nabc\r\n0\r\n\r\n");
    CHECK_FALSE(chunks.headers.has("Connection"));
    Received echoed = co_await ask(client, put("/echo", 50'000));
    CHECK(echoed.body == std::string(50'000, 'b'));
    Received tooLarge = co_await ask(client, put("/small-text", 4));
    CHECK(tooLarge.status == 413);
    Received unread = co_await ask(client, put("/ignore", 200'000));
    CHECK(unread.headers.get("Connection") == "close");
    std::string refused = co_await talk(&server, put("/ignore", (1 << 20) + 1).substr(0, 100));
    CHECK(refused.starts_with("HTTP/1.1 413 "));
    for (std::string wrong : {"x\r\n", "3\r\nhelX\r\n"}) {
        std::string answer =
            co_await talk(&server, "PUT /small-text HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + wrong);
        CHECK(answer.starts_with("HTTP/1.1 400 "));
    }
    std::string alsoUnread =
        co_await talk(&server, "PUT /ignore HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhelX\r\n");
    CHECK(alsoUnread.ends_with("ignored"));
    CHECK(Dropped::all.empty()); // clients cannot fill the log
}

Future<Void> expectations() {
    HttpServer server(kinds);
    std::string head = " HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n";
    Reference<Connection> client = co_await server.connect();
    (void)client->write(StringRef("PUT /small-text" + head));
    Received asked = co_await receive(client);
    CHECK(asked.status == 100);
    (void)client->write("ok"_sr);
    Received answer = co_await receive(client);
    CHECK(answer.body == "ok");
    Received unread = co_await ask(client, "PUT /ignore" + head); // never asks for the body
    CHECK(unread.status == 200);
    CHECK(unread.headers.get("Connection") == "close");
    std::string other = co_await talk(&server, get("/bytes", "Expect: magic\r\n"));
    CHECK(other.starts_with("HTTP/1.1 417 "));
}

Future<Void> upgradedEcho(Reference<Connection> connection, Event*) {
    for (;;) {
        Bytes some = co_await connection->read();
        if (some.empty())
            co_return;
        co_await connection->write(std::move(some));
    }
}

Future<Void> upgrades() {
    HttpServer server([](Request request) -> Future<Response> {
        CHECK(request.headers.hasToken("Connection", "upgrade"));
        Response response;
        response.status = 101;
        response.headers = {{"Connection", "Upgrade"}, {"Upgrade", "echo"}};
        response.upgrade = upgradedEcho;
        return response;
    });
    Reference<Connection> client = co_await server.connect();
    Received switched = co_await ask(client, get("/", "Connection: Upgrade\r\nUpgrade: echo\r\n") + "ear");
    CHECK(switched.status == 101);
    CHECK(switched.headers.get("Connection") == "Upgrade");
    (void)client->write("ly"_sr);
    Bytes answer = co_await client->readExactly(5);
    CHECK(answer == "early"_sr);
    client->shutdownWrite();
    Bytes end = co_await client->read();
    CHECK(end.empty());
}

} // namespace

TEST_CASE("http server: responses of each kind") {
    onEachNetwork(responses);
}

TEST_CASE("http server: mistakes of a handler") {
    onEachNetwork(mistakes);
}

TEST_CASE(
    "http server: an event says of which request the response's body has failed, with its method, path and trace") {
    onSimulatedNetwork(failingBodies);
}

TEST_CASE("http server: bodies of requests are read, skipped or refused") {
    onEachNetwork(requestBodies);
}

TEST_CASE("http server: a client that waits for 100 Continue") {
    onEachNetwork(expectations);
}

TEST_CASE("http server: an upgrade takes the connection over") {
    onEachNetwork(upgrades);
}
