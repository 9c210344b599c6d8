// The connections of a client: retries, limits for each host, and times.
#include "tests/net/http/client_support.h"

#include <memory>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace client_pool_test {
using namespace flow::net::http;
namespace {

/// Makes a connection, and leaves it in the client's pool.
Future<Void> warm(Client* client, ServerEnds* ends) {
    std::size_t number = ends->all.size();
    Future<std::string> asking = answerText(client->get("http://a/warm"));
    ScriptedPeer peer = ends->peer(number);
    peer.expect(getHead("/warm")).send(kOk);
    co_await peer.run();
    std::string got = co_await std::move(asking);
    CHECK(got == "200 ok");
}

/// Answers each request of a connection after a second.
Future<Void> serveSlowly(Reference<Connection> connection) {
    for (;;) {
        co_await connection->readUntil("\r\n\r\n"_sr, 10000);
        co_await delay(1);
        co_await connection->write(StringRef(kOk));
    }
}

Request requestOf(std::string method, bool hasKey, bool isStream) {
    Request request;
    request.method = std::move(method);
    if (hasKey)
        request.headers.add("Idempotency-Key", "7");
    request.body = "body";
    if (isStream)
        request.body = Body::stream([] { return Future<Bytes>(Bytes()); });
    return request;
}

} // namespace

TEST_CASE("client: what may be sent again is, when the kept connection has just ended") {
    struct Case {
        char const *method, *how;
        bool isRepeated, hasKey = false, isStream = false;
    };
    static Case const kCases[] = {{"GET", "end", true},          {"GET", "reset", true},
                                  {"PUT", "end", true},          {"DELETE", "reset", true},
                                  {"GET", "part", false},        {"GET", "continue", false},
                                  {"POST", "end", false},        {"PATCH", "reset", false},
                                  {"POST", "reset", true, true}, {"PUT", "end", false, false, true}};
    for (std::size_t number = 0; number < std::size(kCases); ++number) {
        INFO(number);
        SimLoop loop;
        Balance balance;
        auto test = [](Case const* what) -> Future<Void> {
            ServerEnds ends;
            Client client(ends.options());
            std::vector<Future<Void>> warming;
            for (int i = 0; i < 3; ++i)
                warming.push_back(warm(&client, &ends));
            for (Future<Void>& each : warming)
                co_await std::move(each);
            CHECK(client.idle() == 3);
            Request request = requestOf(what->method, what->hasKey, what->isStream);
            Future<std::string> asking = answerText(client.send(std::move(request), "http://a/"));
            co_await delay(0);
            Reference<Connection> used = ends.all[2];
            std::string how = what->how;
            Bytes sent = co_await used->read();
            CHECK(sent.startsWith(StringRef(what->method)));
            if (how == "part")
                (void)used->write("HTTP/1.1 2"_sr);
            else if (how == "continue")
                (void)used->write("HTTP/1.1 100 Continue\r\n\r\n"_sr);
            if (how == "reset")
                used->abort();
            else
                used->close();
            co_await delay(0.1);
            CHECK(ends.all.size() == (what->isRepeated ? 4 : 3)); // a new one, not another one that was kept
            if (what->isRepeated) {
                ScriptedPeer peer = ends.peer(3);
                peer.expect(
                    headOf(std::string(what->method) + " /", "a", what->hasKey ? "Idempotency-Key: 7\r\n" : "") +
                    "Content-Length: 4\r\n\r\nbody");
                peer.send(kOk);
                co_await peer.run();
            }
            std::string got = co_await std::move(asking);
            if (what->isRepeated)
                CHECK(got == "200 ok");
            else
                CHECK(got.starts_with("connection_"));
        };
        loop.run(test(&kCases[number]));
    }
}

TEST_CASE("client: a request is sent twice at most, and only once on a new connection") {
    simulatedClient([]() -> Future<Void> {
        ServerEnds ends;
        Client client(ends.options());
        Future<std::string> asking = answerText(client.get("http://a/"));
        ends.all.at(0)->abort();
        std::string got = co_await std::move(asking);
        INFO(got);
        CHECK(got.starts_with("connection_reset: GET http://a/: "));
        CHECK(got.ends_with(": the other side has reset the connection"));
        CHECK(ends.all.size() == 1);
        Future<Void> warming = warm(&client, &ends);
        co_await std::move(warming);
        asking = answerText(client.get("http://a/"));
        ends.all.at(1)->abort();
        co_await delay(0.1);
        ends.all.at(2)->abort();
        got = co_await std::move(asking);
        CHECK(got.starts_with("connection_reset: "));
        CHECK(ends.all.size() == 3);
        CHECK(client.idle() == 0);
    });
}

TEST_CASE("client: connections are bounded for each host, and requests wait in order") {
    simulatedClient([]() -> Future<Void> {
        ServerEnds ends;
        Client client(ends.options({.connections = 2, .waiters = 3}));
        std::vector<Future<std::string>> asking;
        for (int i = 0; i < 5; ++i)
            asking.push_back(answerText(client.get("http://a/")));
        std::string got = co_await answerText(client.get("http://a/"));
        CHECK(got == "operation_failed: GET http://a/: Pool: all 2 connections are in use, and 3 callers wait for one, "
                     "the most that may wait");
        asking[2] = Future<std::string>(); // gives up
        asking.push_back(answerText(client.get("http://b/")));
        CHECK(ends.asked == std::vector<std::string>{"a:80", "a:80", "b:80"});
        std::vector<Future<Void>> serving;
        for (Reference<Connection> const& each : ends.all)
            serving.push_back(serveSlowly(each));
        for (std::size_t i : {0, 1, 3, 4, 5}) {
            got = co_await std::move(asking[i]);
            CHECK(got == "200 ok");
        }
        CHECK(now() == 2);
        CHECK(ends.all.size() == 3);
        CHECK(client.idle() == 3);
        co_await delay(29);
        CHECK(client.idle() == 2); // that of b has been unused for 30 s
        co_await delay(2);
        CHECK(client.idle() == 0);
        serving.clear();
        CHECK(ends.isGone(0));
    });
}

TEST_CASE("client: many hosts, of which those without connections are forgotten") {
    simulatedClient([]() -> Future<Void> {
        ServerEnds ends;
        Client client(ends.options({.keep = 1}));
        for (int i = 0; i < 200; ++i) {
            std::string host = "h" + std::to_string(i);
            Future<std::string> asking = answerText(client.get("http://" + host + "/"));
            (void)ends.all.back()->write(StringRef(kOk));
            std::string got = co_await std::move(asking);
            CHECK(got == "200 ok");
            CHECK(client.idle() <= 11);
            co_await delay(0.1);
        }
        Future<std::string> asking = answerText(client.get("http://h0/"));
        (void)ends.all.back()->write(StringRef(kOk));
        std::string got = co_await std::move(asking);
        CHECK(got == "200 ok");
    });
}

TEST_CASE("client: no connection could be made") {
    simulatedClient([]() -> Future<Void> {
        ServerEnds ends;
        ends.error = connection_refused();
        Client client(ends.options({.connectTimeout = 5}));
        std::string got = co_await answerText(client.get("http://example.org/a/b?token=secret"));
        CHECK(got == "connection_refused: GET http://example.org/a/b: no program listens at the address");
        ends.seconds = 6;
        got = co_await answerText(client.get("http://a/"));
        CHECK(got == "connection_timed_out: GET http://a/: no connection was made within 5 s (connectTimeout)");
        CHECK(now() == 5);
    });
}

TEST_CASE("client: the times of an exchange") {
    simulatedClient([]() -> Future<Void> {
        ServerEnds ends;
        Client client(ends.options({.firstByteTimeout = 5, .idleTimeout = 3, .timeout = 20}));
        double begin = now();
        std::string got = co_await answerText(client.get("http://a/"));
        CHECK(got == "timed_out: GET http://a/: no answer has come within 5 s (firstByteTimeout)");
        CHECK(now() - begin == 5);
        CHECK(ends.isGone(0));

        begin = now(); // the head in time, then slow pieces, then none
        Future<std::string> asking = answerText(client.get("http://a/"));
        ScriptedPeer peer = ends.peer(1);
        peer.wait(4).send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n").wait(2).send("a").wait(2).send("b");
        co_await peer.run();
        got = co_await std::move(asking);
        CHECK(got == "200 timed_out: GET http://a/: nothing of the answer's body has come for 3 s (idleTimeout)");
        CHECK(now() - begin == 11);

        begin = now(); // the answer never ends
        asking = answerText(client.get("http://a/"));
        peer = ends.peer(2);
        peer.send("HTTP/1.1 200 OK\r\n\r\n");
        for (int i = 0; i < 15; ++i)
            peer.send("x").wait(2);
        Future<Void> playing = peer.run();
        got = co_await std::move(asking);
        CHECK(got == "200 timed_out: GET http://a/: it took longer than `timeout`");
        CHECK(now() - begin == 20);
        (void)co_await tryGet(std::move(playing)); // has found the reset

        begin = now(); // nothing takes the request's body
        asking = answerText(client.post("http://a/", std::string(1'000'000, 'x'), "a/b"));
        got = co_await std::move(asking);
        CHECK(got == "connection_timed_out: POST http://a/: the other side does not take the bytes");
        CHECK(now() - begin == 3);
        co_await delay(0);
        CHECK(client.idle() == 0);
    });
}

TEST_CASE("client: the whole time counts from the call, also while a request waits for a connection") {
    simulatedClient([]() -> Future<Void> {
        ServerEnds ends;
        Client client(ends.options({.firstByteTimeout = 100, .timeout = 10, .connections = 1}));
        Future<std::string> first = answerText(client.get("http://a/"));
        co_await delay(5);
        Future<std::string> second = answerText(client.get("http://a/"));
        std::string got = co_await std::move(first);
        CHECK(got == "timed_out: GET http://a/: it took longer than `timeout`");
        CHECK(now() == 10);
        got = co_await std::move(second);
        CHECK(got == "timed_out: GET http://a/: it took longer than `timeout`");
        CHECK(now() == 15);
        CHECK(ends.all.size() == 2);
    });
}

TEST_CASE("client: close() fails what waits, and what has a connection goes on") {
    simulatedClient([]() -> Future<Void> {
        ServerEnds ends;
        auto client = std::make_unique<Client>(ends.options({.connections = 1}));
        Future<std::string> running = answerText(client->get("http://a/"));
        Future<std::string> waiting = answerText(client->get("http://a/"));
        client->close();
        std::string got = co_await std::move(waiting);
        CHECK(got == "operation_obsolete: GET http://a/: the Pool is closed");
        got = co_await answerText(client->get("http://b/"));
        CHECK(got == "operation_obsolete: GET http://b/: the Client is closed");
        client.reset();
        ScriptedPeer peer = ends.peer(0);
        peer.expect(getHead("/")).send(kOk).expectEnd();
        co_await peer.run();
        got = co_await std::move(running);
        CHECK(got == "200 ok");
    });
}

} // namespace client_pool_test
