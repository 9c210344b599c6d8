// The client and the server of this library against each other.
#include "flow/sim/world.h"
#include "flow/sync/semaphore.h"
#include "flow/tasks/map_concurrent.h"
#include "net/http/server.h"
#include "net/sim/sim_network.h"
#include "tests/net/http/client_support.h"

#include <map>
#include <numeric>

using namespace flow;
using namespace flow::net;
using namespace flow::net::http;
using namespace flow::test;

namespace client_server_test {
namespace {

/// What the server has handled: each path, and how often.
using Handled = std::map<std::string, int>;

Future<Response> answer(Request request, Handled* handled) {
    ++(*handled)[request.method + " " + request.target];
    Response response;
    if (request.target.starts_with("/moved"))
        response = Response{.status = 307, .headers = {{"Location", "/echo"}}};
    else if (request.target == "/slow")
        co_await delay(0.1);
    else if (request.target == "/early")
        response.body = "early"; // the request's body is not read
    if (request.target == "/echo") {
        auto body = std::make_shared<Body>(std::move(request.body));
        response.body = Body::stream([body] { return body->read(); });
    }
    co_return std::move(response);
}

/// Runs the test in a process that serves at port 80 until the test has ended.
void served(ServerOptions options, Future<Void> (*test)(std::string url, Handled* handled)) {
    World world(1);
    SimNetwork network(world, {.latency = 0.001, .jitter = 0.001, .bandwidth = 1e8});
    auto run = [](ServerOptions given, Future<Void> (*body)(std::string, Handled*)) -> Future<Void> {
        Handled handled;
        Promise<Void> stop;
        Handler handler = [&handled](Request request) { return answer(std::move(request), &handled); };
        Future<Void> serving = serve(transport().listen(80), handler, given, stop.getFuture());
        Future<Void> testing = body("http://" + transport().localAddress().hostToString(), &handled);
        co_await std::move(testing);
        stop.send(Void());
        co_await std::move(serving);
    };
    Process& process = world.start({.name = "p", .main = [&] { return run(options, test); }});
    world.run(process.onStop());
    CHECK(process.exit() == Error());
    CHECK(network.openEnds() == 0);
    CHECK(world.leakedCells() == 0);
}

} // namespace

TEST_CASE("client and server: bodies of both kinds, redirects, and many requests over few connections") {
    served({}, [](std::string url, Handled* handled) -> Future<Void> {
        Client client({.connections = 4});
        std::string large(200'000, 'x');
        for (std::string body : {std::string("small"), large}) {
            std::string got = co_await outcome(client.post(url + "/echo", body, "a/b"));
            CHECK(got == "200 " + body);
            got = co_await outcome(client.post(url + "/moved", body, "a/b"));
            CHECK(got == "200 " + body);
            auto source = std::make_shared<Body>(body);
            Request request;
            request.method = "PUT";
            request.body = Body::stream([source] { return source->read(); });
            got = co_await outcome(client.send(std::move(request), url + "/echo"));
            CHECK(got == "200 " + body);
        }
        std::string got = co_await outcome(client.post(url + "/early", large, "a/b"));
        CHECK(got == "200 early");
        std::vector<int> numbers(100);
        std::iota(numbers.begin(), numbers.end(), 0);
        double begin = now();
        std::vector<std::string> all =
            co_await mapConcurrent(numbers, 50, [&](int) { return outcome(client.get(url + "/slow")); });
        CHECK(std::count(all.begin(), all.end(), "200 ") == 100);
        CHECK(now() - begin > 2.5);
        CHECK(now() - begin < 2.8);
        CHECK((*handled)["GET /slow"] == 100);
        CHECK(client.idle() == 4);
    });
}

TEST_CASE("client and server: a server that ends connections at the moment of requests") {
    // Each connection ends when it was idle for 50 ms, which is about when the next request comes.
    served({.idle = 0.05}, [](std::string url, Handled* handled) -> Future<Void> {
        Client client;
        int ended = 0, kept = 0;
        for (int i = 0; i < 300; ++i) {
            std::string path = "/" + std::to_string(i);
            Future<Response> asking = i % 2 == 0 ? client.get(url + path) : client.post(url + path, "x", "a/b");
            std::string got = co_await outcome(std::move(asking));
            if (i % 2 == 0 || got == "200 ") {
                CHECK(got == "200 ");
                ++kept;
            } else { // a POST is not sent twice
                CHECK(got.starts_with("connection_"));
                ++ended;
            }
            CHECK((*handled)[(i % 2 == 0 ? "GET " : "POST ") + path] <= 1);
            co_await delay(0.045 + 0.0001 * (i % 70));
        }
        CHECK(kept > 150);
        CHECK(ended > 0); // so there were such moments
    });
}

TEST_CASE("client and server: connections that the server ends by its limits") {
    served({.requestsPerConnection = 3}, [](std::string url, Handled* handled) -> Future<Void> {
        Client client;
        for (int i = 0; i < 20; ++i) {
            std::string got = co_await outcome(client.post(url + "/p", "x", "a/b"));
            CHECK(got == "200 ");
        }
        CHECK((*handled)["POST /p"] == 20);
        CHECK(client.idle() == 1);
    });
}

} // namespace client_server_test
