// The client of net/examples/curl.h, with our HTTP server on the same loop.

#include "net/examples/curl.h"

#include "net/http/server.h"
#include "tests/flow/support/descriptors.h"
#include "tests/net/http/http_support.h"

#include <doctest/doctest.h>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace {

/// "/wait" answers after a minute, "/big" with 4 MiB, and all others with the path.
Future<http::Response> answer(http::Request request) {
    std::string path = request.target;
    if (path == "/wait")
        co_await delay(60);
    http::Response response{.body = path == "/big" ? std::string(4 << 20, 'x') : path};
    co_return response;
}

std::string urlOf(HttpServer const& server, std::string const& path) {
    return "http://" + server.listener->localAddress().toString() + path;
}

Future<std::string> errorOf(Future<Curl::Answer> getting) {
    try {
        co_await std::move(getting);
    } catch (Error& error) {
        co_return std::string(error.what());
    }
    co_return "no error";
}

Future<Void> getMany(Curl* curl, HttpServer* server) {
    std::vector<Future<Curl::Answer>> all;
    for (int i = 0; i < 60; ++i)
        all.push_back(curl->get(urlOf(*server, i % 20 == 0 ? "/big" : "/" + std::to_string(i))));
    for (int i = 0; i < 60; ++i) {
        Curl::Answer got = co_await all[static_cast<std::size_t>(i)];
        CHECK(got.status == 200);
        if (i % 20 == 0)
            CHECK(got.body.size() == 4 << 20);
        else
            CHECK(got.body == "/" + std::to_string(i));
    }
}

Future<Void> cancelAnywhere(Curl* curl, HttpServer* server) {
    for (int turns = 0; turns < 30; ++turns) {
        Future<Curl::Answer> dropped = curl->get(urlOf(*server, turns % 3 == 0 ? "/big" : "/wait"));
        Future<Curl::Answer> kept = curl->get(urlOf(*server, "/kept"));
        for (int i = 0; i < turns; ++i)
            co_await delay(0);
        dropped = Future<Curl::Answer>();
        Curl::Answer got = co_await kept;
        CHECK(got.body == "/kept");
    }
}

Future<Void> fail(Curl* curl, HttpServer* server) {
    std::string late = urlOf(*server, "/wait");
    Future<Curl::Answer> getting = curl->get(late, 0.05);
    std::string error = co_await errorOf(std::move(getting));
    CHECK(error == late + ": Timeout was reached");
    Reference<Listener> closed = transport().listen(transport().localAddress());
    std::string refused = "http://" + closed->localAddress().toString() + "/";
    closed->close();
    getting = curl->get(refused);
    error = co_await errorOf(std::move(getting));
    CHECK(error.starts_with(refused + ": Could")); // "Couldn't connect to server", or "Could not ..."
    getting = curl->get("nonsense://x/");
    error = co_await errorOf(std::move(getting));
    CHECK(error == "nonsense://x/: Unsupported protocol");
}

} // namespace

TEST_CASE("curl: many requests at the same time, some dropped, some failing") {
    RealLoop loop;
    {
        HttpServer server(answer);
        int before = openDescriptors();
        {
            Curl curl;
            loop.run(getMany(&curl, &server));
            loop.run(cancelAnywhere(&curl, &server));
            loop.run(fail(&curl, &server));
        }
        loop.run(delay(0.01));                  // the server closes its sides
        CHECK(openDescriptors() <= before + 1); // libcurl's random numbers
    }
}
