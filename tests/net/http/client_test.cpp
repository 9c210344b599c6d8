#include "net/http/client.h"

#include "flow/sync/channel.h"
#include "tests/net/http/client_support.h"
#include "tests/net/transport_suite.h"

#include <memory>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace client_test {
using namespace flow::net::http;
namespace {

/// What becomes of a GET that gets these bytes, and then the end of the connection.
std::string answered(std::string bytes, ClientOptions options = {}, std::string method = "GET") {
    SimLoop loop;
    Balance balance;
    auto test = [](std::string sent, ClientOptions given, std::string how) -> Future<std::string> {
        ServerEnds ends;
        auto client = std::make_unique<Client>(ends.options(given));
        Request request;
        request.method = how;
        Future<std::string> asking = answerText(client->send(std::move(request), "http://a/?secret"));
        ScriptedPeer peer = ends.peer(0);
        peer.expect(headOf(how + " /?secret", "a") + "\r\n").send(sent).end();
        co_await peer.run();
        std::string result = co_await std::move(asking);
        client.reset();
        co_await delay(0);
        CHECK(ends.isGone(0));
        co_return result;
    };
    return loop.run(test(std::move(bytes), std::move(options), std::move(method)));
}

/// What becomes of a request that cannot be sent.
std::string refused(Request request, std::string url = "http://a/") {
    SimLoop loop;
    auto test = [](Request given, std::string to) -> Future<std::string> {
        ServerEnds ends;
        Client client(ends.options());
        std::string result = co_await answerText(client.send(std::move(given), to));
        CHECK(ends.asked.empty());
        co_return result;
    };
    return loop.run(test(std::move(request), std::move(url)));
}

} // namespace

TEST_CASE("client: a get, an answer, and the connection is used again") {
    simulatedClient([]() -> Future<Void> {
        ServerEnds ends;
        Client client(ends.options());
        Future<Response> asking = client.get("http://a/x?y=1#z");
        ScriptedPeer peer = ends.peer(0);
        peer.expect(getHead("/x?y=1")).send("HTTP/1.1 404 Not Found\r\nA: b\r\nContent-Length: 5\r\n\r\nhel").wait(1);
        co_await peer.run();
        Response response = co_await std::move(asking);
        CHECK(response.status == 404);
        CHECK(response.version == Version::Http11);
        CHECK(response.headers.get("a") == "b");
        CHECK(response.body.size() == 5u);
        CHECK(client.idle() == 0);
        peer.send("lo").expect(getHead("/2")).send(kOk);
        Future<Void> playing = peer.run();
        std::string text = co_await response.body.text(5);
        CHECK(text == "hello");
        CHECK(client.idle() == 1); // also while the Body lives
        Bytes after = co_await response.body.read();
        CHECK(after.empty());
        std::string second = co_await answerText(client.get("http://A:80/2"));
        CHECK(second == "200 ok");
        co_await std::move(playing);
        CHECK(ends.asked == std::vector<std::string>{"a:80"});
    });
}

TEST_CASE("client: the fields of requests with and without bodies") {
    simulatedClient([]() -> Future<Void> {
        ServerEnds ends;
        Client client(ends.options());
        std::string got;
        Future<std::string> asking = answerText(client.post("http://a:81/p", "body", "text/plain"));
        ScriptedPeer peer = ends.peer(0);
        peer.expect(headOf("POST /p", "a:81", "Content-Type: text/plain\r\n") + "Content-Length: 4\r\n\r\nbody")
            .send(kOk);
        co_await peer.run();
        got = co_await std::move(asking);
        CHECK(got == "200 ok");

        asking = answerText(client.post("http://a:81/p", "", "a/b"));
        peer.expect(headOf("POST /p", "a:81", "Content-Type: a/b\r\n") + "Content-Length: 0\r\n\r\n").send(kOk);
        co_await peer.run();
        got = co_await std::move(asking);
        CHECK(got == "200 ok");

        Request request;
        request.method = "DELETE";
        request.target = "/ignored";
        request.headers = {{"User-Agent", "me"}, {"Host", "virtual"}, {"X", "1"}};
        asking = answerText(client.send(std::move(request), "http://a:81/p"));
        peer.expect("DELETE /p HTTP/1.1\r\nUser-Agent: me\r\nHost: virtual\r\nX: 1\r\n\r\n").send(kOk);
        co_await peer.run();
        got = co_await std::move(asking);
        CHECK(got == "200 ok");

        Client silent(ends.options({.userAgent = ""}));
        asking = answerText(silent.get("http://[::1]:8080"));
        ScriptedPeer other = ends.peer(1);
        other.expect("GET / HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n").send(kOk);
        co_await other.run();
        got = co_await std::move(asking);
        CHECK(got == "200 ok");
        CHECK(ends.asked == std::vector<std::string>{"a:81", "::1:8080"});
    });
}

TEST_CASE("client: both bodies are streams, and the answer begins before the request has ended") {
    simulatedClient([]() -> Future<Void> {
        ServerEnds ends;
        Client client(ends.options());
        Channel<Bytes> pieces(2);
        Request request;
        request.method = "PUT";
        request.body = Body::stream([&] { return keep(pieces.receive()); });
        Future<Response> asking = client.send(std::move(request), "http://a/");
        ScriptedPeer peer = ends.peer(0);
        peer.expect(headOf("PUT /", "a") + "Transfer-Encoding: chunked\r\n\r\n");
        Bytes piece = "one"_sr, end;
        co_await pieces.send(piece);
        peer.expect("3\r\none\r\n").send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;x=y\r\n1\r\n");
        co_await peer.run();
        Response response = co_await std::move(asking);
        CHECK(!response.body.size());
        Bytes got = co_await response.body.read();
        CHECK(got == "1"_sr);
        piece = "three"_sr;
        co_await pieces.send(piece);
        co_await pieces.send(end);
        peer.expect("5\r\nthree\r\n0\r\n\r\n").send("3\r\n333\r\n0\r\nSum: 4\r\n\r\n");
        co_await peer.run();
        got = co_await response.body.read();
        CHECK(got == "333"_sr);
        got = co_await response.body.read();
        CHECK(got.empty());
        CHECK(response.body.trailers().get("Sum") == "4");
        CHECK(client.idle() == 1);
    });
}

TEST_CASE("client: a large body in memory, and a stream of known size") {
    simulatedClient([]() -> Future<Void> {
        ServerEnds ends;
        Client client(ends.options());
        std::string large(300'000, 'x');
        std::string got;
        Future<std::string> asking = answerText(client.post("http://a/", large, "a/b"));
        ScriptedPeer peer = ends.peer(0);
        peer.expect(headOf("POST /", "a", "Content-Type: a/b\r\n") + "Content-Length: 300000\r\n\r\n" + large)
            .send(kOk);
        co_await peer.run();
        got = co_await std::move(asking);
        CHECK(got == "200 ok");
        CHECK(client.idle() == 1);

        for (bool isShort : {false, true}) {
            int left = 2;
            Request request;
            request.method = "PUT";
            request.body = Body::stream([&left]() -> Future<Bytes> { return left-- > 0 ? Bytes("ab"_sr) : Bytes(); },
                                        isShort ? 5 : 4);
            asking = answerText(client.send(std::move(request), "http://a/"));
            if (!isShort)
                peer.expect(headOf("PUT /", "a") + "Content-Length: 4\r\n\r\nabab").send(kOk);
            co_await peer.run();
            got = co_await std::move(asking);
            CHECK(got == (isShort ? "operation_failed: PUT http://a/: a body has not the size that it has promised"
                                  : "200 ok"));
        }
        CHECK(ends.isGone(0));
    });
}

TEST_CASE("client: an error of the request's body ends the request, before and behind the answer's head") {
    simulatedClient([]() -> Future<Void> {
        for (bool hasHead : {false, true}) {
            ServerEnds ends;
            Client client(ends.options());
            Promise<Bytes> next;
            Request request;
            request.method = "PUT";
            request.body = Body::stream([&] { return next.getFuture(); });
            std::string got;
            Future<std::string> asking = answerText(client.send(std::move(request), "http://a/"));
            if (hasHead)
                (void)ends.all[0]->write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"_sr);
            co_await delay(1);
            next.sendError(file_corrupt());
            got = co_await std::move(asking);
            CHECK(got == std::string(hasHead ? "200 " : "") + "file_corrupt: PUT http://a/: the file is corrupt");
            CHECK(now() == (hasHead ? 2 : 1)); // at once
            co_await delay(0);
            CHECK(client.idle() == 0);
        }
    });
}

TEST_CASE("client: answers without a body, and answers in between") {
    std::string length = "Content-Length: 5\r\n\r\n";
    CHECK(answered("HTTP/1.1 200 OK\r\n" + length, {}, "HEAD") == "200 ");
    CHECK(answered("HTTP/1.1 304 Not Modified\r\n" + length) == "304 ");
    CHECK(answered("HTTP/1.1 204 No Content\r\n\r\n") == "204 ");
    CHECK(answered("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + kOk) == "200 ok");
    CHECK(answered("HTTP/1.1 200 OK\r\n\r\nuntil the end") == "200 until the end");
    CHECK(answered("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok") == "200 ok");
    CHECK(answered("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok") == "200 ok");
}

TEST_CASE("client: a connection that cannot be used again is closed in order") {
    simulatedClient([]() -> Future<Void> {
        ServerEnds ends;
        Client client(ends.options());
        for (std::size_t how = 0; how < 3; ++how) {
            Request request;
            if (how == 0)
                request.headers = {{"Connection", "close"}};
            std::string got;
            Future<std::string> asking = answerText(client.send(std::move(request), "http://a/"));
            ScriptedPeer peer = ends.peer(how);
            peer.expect(how == 0 ? headOf("GET /", "a", "Connection: close\r\n") + "\r\n" : getHead("/"));
            std::string head = how == 1 ? "HTTP/1.1 200 OK\r\nConnection: Close\r\n" : "HTTP/1.0 200 OK\r\n";
            peer.send(how == 0 ? kOk : head + "Content-Length: 2\r\n\r\nok").expectEnd();
            co_await peer.run(); // fails for a reset
            got = co_await std::move(asking);
            CHECK(got == "200 ok");
            CHECK(client.idle() == 0);
        }
    });
}

TEST_CASE("client: a request that expects \"100 Continue\" sends its body then, or after a second, or not at all") {
    simulatedClient([]() -> Future<Void> {
        for (int how = 0; how < 3; ++how) {
            double begin = now();
            ServerEnds ends;
            Client client(ends.options());
            Request request;
            request.method = "PUT";
            request.headers = {{"Expect", "100-continue"}};
            request.body = "body";
            std::string got;
            Future<std::string> asking = answerText(client.send(std::move(request), "http://a/"));
            ScriptedPeer peer = ends.peer(0);
            peer.expect(headOf("PUT /", "a", "Expect: 100-continue\r\n") + "Content-Length: 4\r\n\r\n");
            if (how == 0)
                peer.wait(0.25).send("HTTP/1.1 100 Continue\r\n\r\n");
            if (how == 2)
                peer.send("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n");
            else
                peer.expect("body").send(kOk);
            co_await peer.run();
            got = co_await std::move(asking);
            CHECK(got == (how == 2 ? "417 " : "200 ok"));
            CHECK(now() - begin == (how == 0 ? 0.25 : how == 1 ? 1 : 0));
            co_await delay(0);
            CHECK(client.idle() == (how == 2 ? 0u : 1u)); // its body is missing: not to be used again
        }
    });
}

TEST_CASE("client: a body that is dropped before its end resets the connection, and gives its place back") {
    simulatedClient([]() -> Future<Void> {
        ServerEnds ends;
        Client client(ends.options({.connections = 1}));
        {
            Future<Response> asking = client.get("http://a/");
            (void)ends.all[0]->write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart"_sr);
            Response response = co_await std::move(asking);
            Bytes piece = co_await response.body.read();
            CHECK(piece == "part"_sr);
        }
        Error error = co_await endOf(keep(ends.all[0]->readExactly(1000)));
        CHECK(error == connection_reset());
        std::string got;
        Future<std::string> asking = answerText(client.get("http://a/"));
        (void)ends.all.at(1)->write(StringRef(kOk));
        got = co_await std::move(asking);
        CHECK(got == "200 ok");
    });
}

TEST_CASE("client: answers that are not HTTP, too large or cut off") {
    std::string about = ": GET http://a/: ", wrong = "serialization_failed" + about + "the answer is wrong: ";
    CHECK(answered("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok") ==
          wrong + "there are several Content-Length fields");
    for (std::string bytes :
         {"hello\r\n\r\n", "HTTP/1.1 200\r\nA : b\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/2.0 200 OK\r\n\r\n",
          "HTTP/1.1 200 OK\nA: b\r\n\r\n", "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
          "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\nok", "\r\n\r\n",
          "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"}) {
        INFO(bytes);
        CHECK(answered(bytes).starts_with(wrong));
    }
    CHECK(answered("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n") ==
          "200 serialization_failed" + about + "the body: the line before a chunk is wrong");
    CHECK(answered("") == "connection_cut_off" + about + "the connection ended before the answer");
    std::string partOfHead = answered("HTTP/1.1 200");
    INFO(partOfHead);
    CHECK(partOfHead.starts_with("connection_cut_off" + about + "read from "));
    CHECK(partOfHead.ends_with(": the connection ended before all expected bytes had arrived"));
    CHECK(answered("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell").starts_with("200 connection_cut_off" + about));
    CHECK(answered("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n")
              .starts_with("200 connection_cut_off" + about));
    CHECK(answered("HTTP/1.1 200 OK\r\nA: " + std::string(200, 'a') + "\r\n\r\n", {.headBytes = 100}) ==
          "value_too_large" + about + "the answer's head has more than `headBytes`");
    CHECK(answered("HTTP/1.1 200 OK\r\nA: 1\r\nB: 2\r\n\r\n", {.headFields = 1}) ==
          wrong + "there are too many fields");
    CHECK(answered(kOk, {.bodyBytes = 1}) == "value_too_large" + about + "the answer's body has more than `bodyBytes`");
    CHECK(answered("HTTP/1.1 200 OK\r\n\r\nok", {.bodyBytes = 1}) ==
          "200 value_too_large" + about + "the body: it is too long");
}

TEST_CASE("client: what cannot be sent is refused before a connection is made") {
    auto with = [](std::string method, Headers headers) {
        Request request;
        request.method = std::move(method);
        request.headers = std::move(headers);
        return request;
    };
    std::string about = "invalid_option_value: http::Client: a request has ";
    CHECK(refused(with("GET /\r\nX:", {})) == about + "a method that is no token, or CONNECT");
    CHECK(refused(with("", {})).starts_with(about));
    CHECK(refused(with("CONNECT", {})).starts_with(about));
    CHECK(refused(with("PUT", {{"content-length", "1"}})) == about + "the field Content-Length, which its body sets");
    CHECK(refused(with("PUT", {{"Transfer-Encoding", "chunked"}})).starts_with(about));
    CHECK(refused(Request(), "http://a/\r\nX: y")
              .starts_with("connection_string_invalid: the URL \"http://a/\\x0d\\x0a"));
    CHECK(refused(Request(), "ftp://a/").starts_with("connection_string_invalid: "));
    CHECK_THROWS_AS(with("GET", {{"A", "b\r\nC: d"}}), Error);
    SimLoop loop;
    Client client;
    CHECK(loop.run(answerText(client.post("http://a/", "", "a\r\nB: c"))).starts_with("invalid_option_value: "));
    CHECK(loop.run(answerText(client.get("https://a/"))) ==
          "unsupported_operation: GET https://a/: https needs ClientOptions::encrypt, such as tlsConnector()");
}

TEST_CASE("client: wrong options name the option and the rule") {
    auto textOf = [](ClientOptions options) -> std::string {
        try {
            Client client(std::move(options));
        } catch (Error& error) {
            return error.what();
        }
        return "";
    };
    CHECK(textOf({.idleTimeout = 0}) == "ClientOptions: idleTimeout is 0; it must be more than 0");
    CHECK(textOf({.timeout = -1}) == "ClientOptions: timeout is -1; it must be more than 0");
    CHECK(textOf({.connections = 0}) == "ClientOptions: connections is 0; it must be at least 1");
    CHECK(textOf({.headBytes = 0}) == "ClientOptions: headBytes is 0; it must be from 64 to 2^30");
    CHECK(textOf({.proxyAuthorization = "x"}) == "ClientOptions: proxyAuthorization is set; it needs a proxy");
    CHECK(textOf({.proxy = "proxy:3128"}).starts_with("the URL \"proxy:3128\" is wrong"));
    CHECK(!textOf({.userAgent = "a\r\nB: c"}).empty());
}

} // namespace client_test
