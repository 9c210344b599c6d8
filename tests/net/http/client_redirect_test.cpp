// Redirects, and tunnels through a proxy.
#include "tests/net/http/client_support.h"
#include "tests/net/transport_suite.h"

#include <memory>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace client_redirect_test {
using namespace flow::net::http;
namespace {

std::string redirectTo(std::string const& location, int status = 302, std::string const& body = "") {
    return "HTTP/1.1 " + std::to_string(status) + " See\r\nLocation: " + location +
           "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

} // namespace

TEST_CASE("client: redirects are followed, on the same connection if it is the same origin") {
    simulatedClient([]() -> Future<Void> {
        ServerEnds ends;
        Client client(ends.options());
        Future<Response> asking = client.get("HTTP://a/x/y"); // schemes are compared without case
        ScriptedPeer peer = ends.peer(0);
        peer.expect(getHead("/x/y")).send(redirectTo("z?q#f", 301, "moved"));
        peer.expect(getHead("/x/z?q")).send(redirectTo("http://b:81/", 307));
        co_await peer.run();
        co_await delay(0);
        peer = ends.peer(1);
        peer.expect(getHead("/", "b:81")).send(kOk);
        co_await peer.run();
        Response got = co_await std::move(asking);
        CHECK(got.url == "http://b:81/");
        std::string text = co_await got.body.text(100);
        CHECK(text == "ok");
        CHECK(client.idle() == 2);
        CHECK(ends.asked == std::vector<std::string>{"a:80", "b:81"});
        asking = client.get("http://b:81/?a"); // its own URL, without a redirect
        peer.expect(getHead("/?a", "b:81")).send(kOk);
        co_await peer.run();
        got = co_await std::move(asking);
        CHECK(got.url == "http://b:81/?a");
    });
}

TEST_CASE("client: methods and bodies of redirected requests") {
    struct Case {
        char const *method, *next; // "": the redirect is the answer
        int status;
        bool hasBody = false, isStream = false;
    };
    static Case const kCases[] = {{"GET", "GET", 301},
                                  {"GET", "GET", 303},
                                  {"HEAD", "HEAD", 303},
                                  {"POST", "GET", 301},
                                  {"POST", "GET", 302},
                                  {"POST", "GET", 303},
                                  {"PUT", "GET", 303},
                                  {"PUT", "PUT", 301, true},
                                  {"PUT", "PUT", 302, true},
                                  {"POST", "POST", 307, true},
                                  {"PUT", "PUT", 308, true},
                                  {"POST", "", 307, true, true},
                                  {"POST", "GET", 303, false, true},
                                  {"GET", "", 300},
                                  {"GET", "", 305}};
    for (Case const& each : kCases) {
        INFO(std::string(each.method), each.status);
        SimLoop loop;
        Balance balance;
        auto test = [](Case const* what) -> Future<Void> {
            ServerEnds ends;
            Client client(ends.options());
            Request request;
            request.method = what->method;
            if (request.method[0] == 'P') {
                request.headers.add("Content-Type", "a/b");
                request.body = "body";
                if (what->isStream) {
                    auto body = std::make_shared<Body>("body");
                    request.body = Body::stream([body] { return body->read(); }, 4);
                }
            }
            Future<std::string> asking = answerText(client.send(std::move(request), "http://a/"));
            ScriptedPeer peer = ends.peer(0);
            std::string type = what->method[0] == 'P' ? "Content-Type: a/b\r\n" : "";
            std::string rest = type.empty() ? "\r\n" : "Content-Length: 4\r\n\r\nbody";
            peer.expect(headOf(std::string(what->method) + " /", "a", type) + rest);
            peer.send(redirectTo("/n", what->status));
            std::string next = what->next;
            if (!next.empty()) {
                if (what->isStream) // the body is gone: nothing must be sent again
                    peer.expect(headOf(next + " /n", "a") + "\r\n").send(redirectTo("/n", 307));
                peer.expect(headOf(next + " /n", "a", what->hasBody ? type : "") + (what->hasBody ? rest : "\r\n"));
                peer.send(next == "HEAD" ? "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n" : kOk);
            }
            co_await peer.run();
            std::string got = co_await std::move(asking);
            CHECK(got == (next.empty() ? std::to_string(what->status) + " " : next == "HEAD" ? "200 " : "200 ok"));
            CHECK(client.idle() == 1);
        };
        loop.run(test(&each));
    }
}

TEST_CASE("client: secrets stay at their origin") {
    for (std::string to : {"http://a/n", "http://a:81/n", "http://b/n", "http://sub.a/n"}) {
        INFO(to);
        SimLoop loop;
        auto test = [](std::string location) -> Future<Void> {
            ServerEnds ends;
            Client client(ends.options());
            Request request;
            request.headers = {{"Authorization", "Basic x"},
                               {"cookie", "c=1"},
                               {"Proxy-Authorization", "p"},
                               {"Host", "v"},
                               {"X", "1"}};
            std::string secrets = "Authorization: Basic x\r\ncookie: c=1\r\nProxy-Authorization: p\r\nHost: v\r\n";
            std::string rest = "X: 1\r\nUser-Agent: millrace\r\n\r\n";
            Future<std::string> asking = answerText(client.send(std::move(request), "http://a/"));
            ScriptedPeer peer = ends.peer(0);
            peer.expect("GET / HTTP/1.1\r\n" + secrets + rest).send(redirectTo(location));
            co_await peer.run();
            co_await delay(0);
            bool isSame = location == "http://a/n";
            Url url = Url::parse(location);
            ScriptedPeer next = isSame ? peer : ends.peer(1);
            next.expect("GET /n HTTP/1.1\r\n" + (isSame ? secrets : "Host: " + url.authority() + "\r\n") + rest)
                .send(kOk);
            co_await next.run();
            std::string got = co_await std::move(asking);
            CHECK(got == "200 ok");
        };
        loop.run(test(to));
    }
}

TEST_CASE("client: redirects that are not followed") {
    simulatedClient([]() -> Future<Void> {
        ServerEnds ends;
        Client client(ends.options({.redirects = 2})), literal(ends.options({.redirects = 0}));
        Future<std::string> asking = answerText(client.get("http://a/1?s"));
        ScriptedPeer peer = ends.peer(0);
        for (int i = 1; i <= 3; ++i)
            peer.expect(getHead(i == 1 ? "/1?s" : "/" + std::to_string(i))).send(redirectTo(std::to_string(i + 1)));
        co_await peer.run();
        std::string got = co_await std::move(asking);
        CHECK(got == "operation_failed: GET http://a/3: there are more than 2 redirects");

        asking = answerText(literal.get("http://a/"));
        peer = ends.peer(1);
        peer.expect(getHead("/")).send(redirectTo("/n", 302, "body")).expect(getHead("/"));
        peer.send("HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n");
        Future<Void> playing = peer.run();
        got = co_await std::move(asking);
        CHECK(got == "302 body");
        got = co_await answerText(literal.get("http://a/"));
        CHECK(got == "302 "); // has no Location
        co_await std::move(playing);

        for (std::string wrong : {"ftp://b/", "http://u@b/", "/a b", "http://127.1/"}) {
            std::size_t number = ends.all.size();
            Client other(ends.options());
            asking = answerText(other.get("http://a/?s"));
            peer = ends.peer(number);
            peer.expect(getHead("/?s")).send(redirectTo(wrong));
            co_await peer.run();
            got = co_await std::move(asking);
            CHECK(got.starts_with("connection_string_invalid: GET http://a/: the redirect: the URL \"" + wrong + "\""));
        }
    });
}

TEST_CASE("client: the body of a redirect does not keep the request") {
    simulatedClient([]() -> Future<Void> {
        ServerEnds ends;
        Client client(ends.options({.idleTimeout = 3}));
        for (std::string body : {std::string("Content-Length: 100000\r\n\r\n") + std::string(20000, 'x'),
                                 std::string("Transfer-Encoding: chunked\r\n\r\n5\r\nstall")}) {
            std::size_t number = ends.all.size();
            double begin = now();
            Future<std::string> asking = answerText(client.get("http://a/"));
            ScriptedPeer peer = ends.peer(number);
            peer.expect(getHead("/")).send("HTTP/1.1 302 Found\r\nLocation: /n\r\n" + body).wait(4);
            Future<Void> playing = peer.run();
            co_await delay(3.5);
            ScriptedPeer next = ends.peer(number + 1);
            next.expect(getHead("/n")).send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
            co_await next.run();
            std::string got = co_await std::move(asking);
            CHECK(got == "200 ok");
            CHECK(now() - begin <= 4);
            CHECK(ends.isGone(number));
            (void)co_await tryGet(std::move(playing)); // may have found the reset
        }
    });
}

TEST_CASE("client: a proxy opens a tunnel, which is kept") {
    simulatedClient([]() -> Future<Void> {
        ServerEnds ends;
        Client client(ends.options({.proxy = "http://proxy:3128", .proxyAuthorization = "Basic x"}));
        Future<std::string> asking = answerText(client.get("http://a/1"));
        ScriptedPeer peer = ends.peer(0);
        peer.expect("CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\nProxy-Authorization: Basic x\r\n\r\n");
        peer.send("HTTP/1.1 200 Connection established\r\n\r\n").expect(getHead("/1")).send(kOk).expect(getHead("/2"));
        peer.send(kOk);
        Future<Void> playing = peer.run();
        std::string got = co_await std::move(asking);
        CHECK(got == "200 ok");
        got = co_await answerText(client.get("http://a/2"));
        CHECK(got == "200 ok");
        co_await std::move(playing);
        CHECK(ends.asked == std::vector<std::string>{"proxy:3128"});

        asking = answerText(client.get("http://[::1]:8080/"));
        peer = ends.peer(1);
        peer.expect("CONNECT [::1]:8080 HTTP/1.1\r\nHost: [::1]:8080\r\nProxy-Authorization: Basic x\r\n\r\n");
        peer.send("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n");
        co_await peer.run();
        got = co_await std::move(asking);
        CHECK(got ==
              "operation_failed: GET http://[::1]:8080/: the proxy http://proxy:3128 has answered 407 for the tunnel");
        co_await delay(0);
        CHECK(ends.isGone(1));

        asking = answerText(client.get("http://b/")); // one that says nothing
        got = co_await std::move(asking);
        CHECK(got == "connection_timed_out: GET http://b/: no connection was made within 10 s (connectTimeout)");
    });
}

TEST_CASE("client: https encrypts inside of the tunnel; the protocol that ALPN chooses must be known") {
    simulatedClient([]() -> Future<Void> {
        ServerEnds ends;
        std::string protocol = "http/1.1";
        std::vector<std::string> names;
        ClientOptions options = ends.options({.proxy = "https://proxy:3128"});
        options.encrypt = [&](Reference<Connection> carrier, std::string host, bool mayBeHttp2) {
            names.push_back(host + (mayBeHttp2 ? " 2" : ""));
            return Future<Encrypted>(Encrypted{carrier, protocol});
        };
        Client client(options);
        Future<std::string> asking = answerText(client.get("https://A:8443/"));
        ScriptedPeer peer = ends.peer(0);
        peer.expect("CONNECT a:8443 HTTP/1.1\r\nHost: a:8443\r\n\r\n").send("HTTP/1.1 200 OK\r\n\r\n");
        peer.expect(getHead("/", "a:8443")).send(kOk);
        co_await peer.run();
        std::string got = co_await std::move(asking);
        CHECK(got == "200 ok");
        CHECK(names == std::vector<std::string>{"proxy", "a 2"});

        protocol = "spdy/3";
        Future<Error> connecting = endOf(client.connect("https://a/"));
        (void)ends.all.at(1)->write("HTTP/1.1 200 OK\r\n\r\n"_sr);
        Error error = co_await std::move(connecting);
        CHECK(error == unsupported_operation());
        asking = answerText(client.get("https://a/"));
        (void)ends.all.at(2)->write("HTTP/1.1 200 OK\r\n\r\n"_sr);
        got = co_await std::move(asking);
        CHECK(got == "unsupported_operation: GET https://a/: the server has chosen the protocol \"spdy/3\", which this "
                     "client does not speak");
    });
}

} // namespace client_redirect_test
