#include "tests/net/http/http_support.h"

#include "flow/coro/coroutine.h"
#include "net/http/detail/service.h"
#include "tests/net/transport_suite.h"

namespace flow::test {

using namespace net;
using namespace net::http;
using namespace net::http::detail;

namespace {
ServerOptions withCounters(ServerOptions options, ServerCounters* counters) {
    options.counters = counters;
    return options;
}
} // namespace

HttpServer::HttpServer(HandlerToTheEnd handler, ServerOptions options)
    : listener(transport().listen(transport().localAddress())),
      running(serve(listener, std::move(handler), withCounters(std::move(options), &counters), stop.getFuture())) {}
HttpServer::HttpServer(Handler handler, ServerOptions options)
    : HttpServer(toTheEnd(std::move(handler)), std::move(options)) {}

Future<Received> receive(Reference<Connection> connection, std::string method) {
    Bytes head = co_await connection->readUntil("\r\n\r\n"_sr, 100000);
    Response response;
    Framing framing;
    Refusal refusal = parseResponse(head, 100, method, response, framing);
    if (refusal)
        throw test_failed().withSentence(refusal.reason);
    auto source = makeReference<ReceivedBody>(connection, framing, BodyLimits());
    Body body = Body::from(source, framing.size());
    Received received;
    received.body = co_await body.text(100 << 20);
    received.status = response.status;
    received.headers = response.headers;
    received.trailers = body.trailers();
    co_return received;
}

Future<Received> ask(Reference<Connection> connection, std::string bytes) {
    std::string method = bytes.substr(0, bytes.find(' '));
    co_await connection->write(StringRef(bytes));
    Received received = co_await receive(connection, method);
    co_return received;
}

Future<std::string> talk(HttpServer* server, std::string bytes) {
    Reference<Connection> connection = co_await server->connect();
    co_await connection->write(StringRef(bytes));
    std::string all = co_await readAll(connection);
    co_return all;
}

std::string get(std::string target, std::string lines) {
    return "GET " + target + " HTTP/1.1\r\nHost: a\r\n" + lines + "\r\n";
}

Dropped::Dropped() {
    all.clear();
    before_ = setDroppedErrorHandler(
        [](char const*, Error error) { all.push_back(std::string(error.name()) + ": " + error.what()); });
}
Dropped::~Dropped() {
    setDroppedErrorHandler(before_);
}

Future<Response> repeat(Request request) {
    std::string body = co_await request.body.text(1 << 20);
    Response response;
    response.body = request.method + " " + request.target + " " + body;
    response.trailers = request.body.trailers();
    co_return response;
}

} // namespace flow::test
