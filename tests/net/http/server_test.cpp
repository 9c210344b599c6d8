#include "net/http/server.h"

#include "flow/combine/all.h"
#include "flow/coro/coroutine.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/throws.h"
#include "tests/net/http/http_support.h"
#include "tests/net/serve_suite.h"

#include <doctest/doctest.h>

using namespace flow;
using namespace flow::net;
using namespace flow::net::http;
using namespace flow::test;

namespace {

Future<Void> keepsAlive() {
    HttpServer server(repeat);
    Reference<Connection> client = co_await server.connect();
    Received one = co_await ask(client, get("/a"));
    CHECK(one.status == 200);
    CHECK(one.body == "GET /a ");
    CHECK(one.headers.get("Content-Length") == "7");
    CHECK(one.headers.get("Date").size() == 29);
    CHECK_FALSE(one.headers.has("Connection"));
    Received two = co_await ask(client, "PUT /b HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello");
    CHECK(two.body == "PUT /b hello");
    Received three = co_await ask(client, "POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                                          "5;x=y\r\nhello\r\n00A\r\n, you all.\r\n0\r\nSum: 7\r\n\r\n");
    CHECK(three.body == "POST /c hello, you all.");
    Received four = co_await ask(client, "GET /d HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    CHECK(four.headers.get("Connection") == "keep-alive");
    Received five = co_await ask(client, "GET /e HTTP/1.0\r\n\r\n");
    CHECK(five.headers.get("Connection") == "close");
    Bytes end = co_await client->read();
    CHECK(end.empty());
    CHECK(server.counters.requests == 5);
}

Future<Void> pipelines() {
    HttpServer server(repeat);
    std::string many;
    for (int i = 0; i < 400; ++i)
        many += get("/" + std::to_string(i));
    std::string all = co_await talk(&server, many + get("/last", "Connection: close\r\n"));
    std::size_t at = 0;
    for (int i = 0; i < 400; ++i) {
        std::size_t next = all.find("GET /" + std::to_string(i) + " ", at);
        CHECK(next > at);
        at = next;
    }
    CHECK(all.ends_with("GET /last "));
}

} // namespace

TEST_CASE("http server: a connection is kept for further requests") {
    onEachNetwork(keepsAlive);
}

TEST_CASE("http server: requests that were sent ahead are answered in their order") {
    onEachNetwork(pipelines);
}
