// Slow, greedy and hostile clients, and the end of a server.

#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/tasks/scope.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/balance.h"
#include "tests/net/http/http_support.h"
#include "tests/net/serve_suite.h"
#include "tests/net/transport_suite.h"

#include <doctest/doctest.h>

using namespace flow;
using namespace flow::net;
using namespace flow::net::http;
using namespace flow::test;

namespace {

/// Answers "/slow" after `seconds`.
Handler slowly(double seconds, int* cancelled = nullptr) {
    struct Noted {
        ~Noted() {
            if (count)
                ++*count;
        }
        int* count;
    };
    static auto answer = [](Request request, double time, int* count) -> Future<Response> {
        Noted noted{count};
        if (request.target == "/slow")
            co_await delay(time);
        noted.count = nullptr;
        Response response;
        response.body = request.target;
        co_return response;
    };
    return [=](Request request) { return answer(std::move(request), seconds, cancelled); };
}

Future<Void> wrongOptions() {
    auto sentenceOf = [](ServerOptions options) -> Future<std::string> {
        Reference<Listener> listener = transport().listen(transport().localAddress());
        ErrorOr<Void> result = co_await tryGet(serve(listener, repeat, options, Never()));
        CHECK(result.getError() == invalid_option_value());
        co_return result.getError().what();
    };
    std::string idle = co_await sentenceOf({.idle = 0});
    CHECK(idle == "ServerOptions: idle is 0; it must be more than 0");
    std::string connections = co_await sentenceOf({.connections = 0});
    CHECK(connections == "ServerOptions: connections is 0; it must be more than 0");
    std::string grace = co_await sentenceOf({.grace = -1});
    CHECK(grace == "ServerOptions: grace is -1; it must be more than 0");
}

Future<Void> limits() {
    HttpServer server(
        repeat,
        {.headerBytes = 200, .headerCount = 3, .idle = 20, .headerTime = 5, .bodyTime = 5, .requestsPerConnection = 2});
    std::string longHead = co_await talk(&server, get("/" + std::string(300, 'x')));
    CHECK(longHead.starts_with("HTTP/1.1 431 "));
    std::string manyFields = co_await talk(&server, get("/", "A: 1\r\nB: 2\r\nC: 3\r\n"));
    CHECK(manyFields.starts_with("HTTP/1.1 431 "));
    double begin = now();
    std::string slowHead = co_await talk(&server, "GET / HTTP/1.1\r\n");
    CHECK(slowHead.starts_with("HTTP/1.1 408 "));
    CHECK(slowHead.ends_with("\r\n\r\nRequest Timeout: the head comes too slowly\n"));
    CHECK(now() - begin == doctest::Approx(5).epsilon(0.2));
    begin = now();
    std::string slowBody = co_await talk(&server, "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhell");
    CHECK(slowBody.starts_with("HTTP/1.1 408 "));
    CHECK(now() - begin == doctest::Approx(5).epsilon(0.2));
    begin = now();
    std::string idle = co_await talk(&server, "");
    CHECK(idle == "");
    CHECK(now() - begin == doctest::Approx(20).epsilon(0.1));
    begin = now();
    std::string idleAgain = co_await talk(&server, get("/"));
    CHECK(idleAgain.ends_with("\r\n\r\nGET / "));
    CHECK(now() - begin == doctest::Approx(20).epsilon(0.1));
    std::string three = co_await talk(&server, get("/1") + get("/2") + get("/3"));
    CHECK(three.find("GET /1 ") < three.find("Connection: close"));
    CHECK(three.ends_with("GET /2 "));
    co_await delay(1);
    CHECK(server.counters.refused == 3);
    CHECK(server.counters.open == 0);
    CHECK(server.counters.inFlight == 0);
}

Future<Void> placesAreLimited() {
    HttpServer server(slowly(10), {.connections = 2});
    Reference<Connection> one = co_await server.connect();
    Received first = co_await ask(one, get("/1"));
    Reference<Connection> two = co_await server.connect();
    Reference<Connection> three = co_await server.connect();
    Received second = co_await ask(two, get("/2"));
    Future<Received> third = ask(three, get("/3"));
    co_await delay(5);
    CHECK_FALSE(third.isReady());
    one = {};
    Received answer = co_await third;
    CHECK(answer.body == "/3");

    HttpServer narrow(slowly(10), {.concurrentRequests = 1});
    double begin = now();
    Reference<Connection> clients[3];
    std::vector<Future<Received>> answers;
    for (Reference<Connection>& each : clients) {
        each = co_await narrow.connect();
        answers.push_back(ask(each, get("/slow")));
    }
    for (Future<Received>& each : answers)
        co_await each;
    CHECK(now() - begin == doctest::Approx(30).epsilon(0.1));
}

Future<Void> firstLinesThatAreNone() {
    HttpServer server(repeat, {.headerBytes = 1000, .headerTime = 5});
    double begin = now();
    for (char const* line : {"\x16\x03\x01 a\n", "hello\r\n", "GET / HTTP/1.1\nHost: a\n\n", "\r\n\r\n",
                             "\r\nhello\r\n", "PRI * HTTP/2.1\r\n"}) {
        std::string answer = co_await talk(&server, line);
        CHECK(answer.starts_with(std::string(line).starts_with("PRI") ? "HTTP/1.1 505 " : "HTTP/1.1 400 "));
    }
    CHECK(now() - begin < 4);
    // Requests that come in pieces are taken, and what comes behind them stays.
    Reference<Connection> slow = co_await server.connect();
    for (std::string piece :
         {"\r", "\nGE", "T /1 HTTP/1.1\r", "\n", "Host: a\r\n", "\r\nGET /2 HTTP/1.1\r\nHo", "st: a\r\n\r", "\n"}) {
        (void)slow->write(StringRef(piece));
        co_await delay(0.1);
    }
    Received first = co_await receive(slow);
    CHECK(first.body == "GET /1 ");
    Received second = co_await receive(slow);
    CHECK(second.body == "GET /2 ");
    (void)slow->write("GET / HTTP/1.1\r\n"_sr);
    co_await delay(0.1);
    (void)slow->write(StringRef(std::string(100, 'a') + ": 1\r\n" + std::string(1000, 'b')));
    Received large = co_await receive(slow);
    CHECK(large.status == 431);
}

Future<Void> clientsThatGo() {
    int cancelled = 0;
    HttpServer server(slowly(10, &cancelled));
    for (bool aborts : {true, false}) {
        Reference<Connection> client = co_await server.connect();
        co_await client->write(StringRef(get("/slow")));
        co_await delay(1);
        CHECK(server.counters.inFlight == 1);
        if (aborts)
            client->abort();
        client = {};
        co_await delay(1);
        CHECK(server.counters.inFlight == 0);
        CHECK(server.counters.open == 0);
    }
    CHECK(cancelled == 2);
    Reference<Connection> patient = co_await server.connect();
    (void)patient->write(StringRef(get("/slow") + get("/next"))); // bytes that come meanwhile cancel nothing
    Received slow = co_await receive(patient);
    Received next = co_await receive(patient);
    CHECK(next.body == "/next");
    CHECK(cancelled == 2);
}

Future<Void> hostile() {
    Dropped dropped;
    std::string large(10 << 20, 'x');
    Bytes shared = StringRef(large);
    HttpServer server([shared](Request) -> Future<Response> { return Response{.body = shared}; }, {.writeTime = 5});
    // One that sends requests and never reads: it has one response in memory that it shares, and what a socket holds.
    Reference<Connection> deaf = co_await server.connect();
    std::string many;
    for (int i = 0; i < 1000; ++i)
        many += get("/" + std::to_string(i));
    (void)deaf->write(StringRef(many));
    co_await delay(4);
    CHECK(server.counters.requests == 1);
    co_await delay(10);
    CHECK(server.counters.open == 0);
    // One that sends no end of bytes that are no request.
    Reference<Connection> flood = co_await server.connect();
    Error error;
    std::string noise(100'000, 'y');
    double begin = now();
    try {
        while (now() - begin < 20) {
            co_await flood->write(StringRef(noise));
            co_await delay(0.01);
        }
    } catch (Error& thrown) {
        error = thrown;
    }
    CHECK(isConnectionError(error));
    CHECK(now() - begin < 3);
    CHECK(server.counters.open == 0);
    CHECK(Dropped::all.empty());
}

Future<Void> endsInOrder() {
    HttpServer server(slowly(3), {.grace = 10});
    Reference<Connection> idle = co_await server.connect();
    Received first = co_await ask(idle, get("/"));
    co_await delay(2);
    Reference<Connection> active = co_await server.connect();
    Received second = co_await ask(active, get("/"));
    CHECK_FALSE(second.headers.has("Connection"));
    Reference<Connection> busy = co_await server.connect();
    Future<Received> running = ask(busy, get("/slow"));
    Reference<Connection> silent = co_await server.connect();
    co_await delay(0.5);
    Reference<Connection> waiting = co_await server.connect(); // perhaps it is not accepted yet
    server.stop.send(Void());
    double begin = now();
    Bytes end = co_await idle->read();
    CHECK(end.empty());
    CHECK(now() - begin < 0.5);
    co_await delay(0.2);
    Received last = co_await ask(active, get("/last"));
    CHECK(last.body == "/last");
    CHECK(last.headers.get("Connection") == "close");
    Received accepted = co_await ask(waiting, get("/waiting"));
    CHECK(accepted.headers.get("Connection") == "close");
    Bytes endOfSilent = co_await silent->read();
    CHECK(endOfSilent.empty());
    CHECK(now() - begin == doctest::Approx(1).epsilon(0.3));
    Received answer = co_await running;
    CHECK(answer.body == "/slow");
    CHECK(answer.headers.get("Connection") == "close");
    busy = {};
    co_await server.running;
    CHECK(now() - begin < 5);
}

Future<Void> endsAfterGrace() {
    int cancelled = 0;
    HttpServer server(slowly(100, &cancelled), {.grace = 2});
    Reference<Connection> busy = co_await server.connect();
    Future<Received> running = ask(busy, get("/slow"));
    co_await delay(0.5);
    server.stop.send(Void());
    double begin = now();
    co_await server.running;
    CHECK(now() - begin == doctest::Approx(2).epsilon(0.1));
    CHECK(cancelled == 1);
    ErrorOr<Received> result = co_await tryGet(std::move(running));
    CHECK((result.isError() ? result.getError().name() : result.get().body) == std::string("connection_reset"));
}

Future<Void> observed() {
    std::vector<std::string> seen;
    ServerOptions options;
    options.onEnd = [&](Exchange const& exchange) {
        seen.push_back(std::string(exchange.method) + " " + std::string(exchange.target) + " " +
                       std::to_string(exchange.status) + " " + std::to_string(exchange.received) + " " +
                       std::to_string(exchange.sent));
    };
    HttpServer server(repeat, options);
    std::string all = co_await talk(&server, "PUT /a HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi" + get("/b") +
                                                 "wrong\r\n\r\n");
    CHECK(seen.size() == 3);
    CHECK(seen[0] == "PUT /a 200 2 9");
    CHECK(seen[1] == "GET /b 200 0 7");
    CHECK(seen[2] == "GET / 400 0 62");
}

/// Drops the server after so many seconds, whatever its connections do then.
Future<Void> droppedAt(double seconds) {
    int cancelled = 0;
    HttpServer server(slowly(0.03, &cancelled));
    HttpServer echoes(repeat);
    Reference<Connection> one = co_await server.connect();
    (void)one->write(StringRef(get("/slow") + get("/slow") + "GET /part"));
    Reference<Connection> two = co_await echoes.connect();
    std::string put = "PUT /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (char const* piece : {put.c_str(), "5\r\nhe", "llo\r", "\n3\r\nyou\r\n0\r\n", "A: 1\r", "\n\r\n"}) {
        (void)two->write(StringRef(std::string(piece)));
        auto first = co_await race(two->readable(), delay(seconds / 6));
        if (first.index() == 0)
            break;
    }
    server.running = {};
    echoes.running = {};
    CHECK(server.counters.open == 0);
    CHECK(server.counters.inFlight == 0);
    CHECK(echoes.counters.open == 0);
    CHECK(echoes.counters.inFlight == 0);
}

} // namespace

TEST_CASE("http server: dropped at any time, it leaves nothing behind") {
    Balance balance;
    for (int i = 0; i < 60; ++i)
        onSimulatedNetwork([i] { return droppedAt(0.002 * i); });
}

TEST_CASE("http server: wrong options are refused with a sentence") {
    onSimulatedNetwork(wrongOptions);
}

TEST_CASE("http server: limits in bytes, in time and in numbers") {
    Balance balance;
    onSimulatedNetwork(limits);
    onSimulatedNetwork(placesAreLimited);
}

TEST_CASE("http server: what is no request is refused at its first line") {
    Balance balance;
    onSimulatedNetwork(firstLinesThatAreNone);
}

TEST_CASE("http server: a handler is cancelled when its client is gone") {
    onSimulatedNetwork(clientsThatGo);
}

TEST_CASE("http server: hostile clients cost little memory, and no line in the log") {
    onSimulatedNetwork(hostile);
}

TEST_CASE("http server: the end in order") {
    Balance balance;
    onSimulatedNetwork(endsInOrder);
    onSimulatedNetwork(endsAfterGrace);
}

TEST_CASE("http server: an observer learns how each exchange has ended") {
    onSimulatedNetwork(observed);
}
