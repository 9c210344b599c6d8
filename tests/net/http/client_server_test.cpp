// The client and the server of this library against each other, over HTTP/1.1 and HTTP/2.
#include "flow/sim/world.h"
#include "flow/sync/semaphore.h"
#include "flow/tasks/map_concurrent.h"
#include "net/http/detail/client_connection.h"
#include "net/http/server.h"
#include "net/sim/sim_network.h"
#include "tests/net/http/client_support.h"

#include <algorithm>
#include <map>
#include <numeric>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace client_server_test {
using namespace flow::net::http;
namespace {

/// What the server has handled: each path, and how often.
using Handled = std::map<std::string, int>;
struct Served {
    Handled handled;
    ServerCounters counters;
};

Future<Response> answer(Request request, Handled* handled) {
    ++(*handled)[request.method + " " + request.target];
    Response response;
    if (request.target.starts_with("/moved"))
        response = Response{.status = 307, .headers = {{"Location", "/echo"}}};
    else if (request.target == "/slow")
        co_await delay(0.1);
    else if (request.target == "/never")
        co_await Never();
    else if (request.target == "/host")
        response.body = std::string(request.headers.get("Host"));
    else if (request.target == "/early")
        response.body = "early"; // the request's body is not read
    if (request.target == "/echo") {
        auto body = std::make_shared<Body>(std::move(request.body));
        response.body = Body::stream([body] { return body->read(); });
    }
    co_return std::move(response);
}

/// Runs the test in a process that serves at port 80 until the test has ended.
void served(ServerOptions options, Future<Void> (*test)(std::string url, Served* server)) {
    World world(1);
    SimNetwork network(world, {.latency = 0.001, .jitter = 0.001, .bandwidth = 1e8});
    auto run = [](ServerOptions given, Future<Void> (*body)(std::string, Served*)) -> Future<Void> {
        Served server;
        given.counters = &server.counters;
        Promise<Void> stop;
        Handler handler = [&server](Request request) { return answer(std::move(request), &server.handled); };
        Future<Void> serving = serve(transport().listen(80), handler, given, stop.getFuture());
        Future<Void> testing = body("http://" + transport().localAddress().hostToString(), &server);
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

/// Sends small and large bodies, in memory and as streams, which come back.
Future<Void> exchangeBodies(Client* client, std::string url) {
    for (std::string body : {std::string("small"), std::string(200'000, 'x')}) {
        std::string got = co_await answerText(client->post(url + "/echo", body, "a/b"));
        CHECK(got == "200 " + body);
        got = co_await answerText(client->post(url + "/moved", body, "a/b"));
        CHECK(got == "200 " + body);
        auto source = std::make_shared<Body>(body);
        Request request;
        request.method = "PUT";
        request.body = Body::stream([source] { return source->read(); });
        got = co_await answerText(client->send(std::move(request), url + "/echo"));
        CHECK(got == "200 " + body);
    }
}

} // namespace

TEST_CASE("client and server: bodies of both kinds, redirects, and many requests over few connections") {
    served({}, [](std::string url, Served* server) -> Future<Void> {
        Client client({.connections = 4});
        Future<Void> exchanging = exchangeBodies(&client, url);
        co_await std::move(exchanging);
        std::string got = co_await answerText(client.post(url + "/early", std::string(200'000, 'x'), "a/b"));
        CHECK(got == "200 early");
        std::vector<int> numbers(100);
        std::iota(numbers.begin(), numbers.end(), 0);
        double begin = now();
        std::vector<std::string> all =
            co_await mapConcurrent(numbers, 50, [&](int) { return answerText(client.get(url + "/slow")); });
        CHECK(std::count(all.begin(), all.end(), "200 ") == 100);
        CHECK(now() - begin > 2.5);
        CHECK(now() - begin < 2.8);
        CHECK(server->handled["GET /slow"] == 100);
        CHECK(client.idle() == 4);
    });
}

TEST_CASE("client, HTTP/2: requests share a connection, with bodies of both kinds and redirects") {
    if (!flow::net::http::detail::kSpeaksHttp2)
        return;
    served({}, [](std::string url, Served* server) -> Future<Void> {
        Client client({.connections = 2, .plainHttp2 = true});
        Future<Void> exchanging = exchangeBodies(&client, url);
        co_await std::move(exchanging);
        std::string got = co_await answerText(client.get(url + "/host"));
        CHECK(got == "200 " + url.substr(7));
        Future<Response> asking = client.get(url + "/host");
        Response response = co_await std::move(asking);
        CHECK(response.version == Version::Http2);
        std::vector<int> numbers(90);
        std::iota(numbers.begin(), numbers.end(), 0);
        double begin = now();
        std::vector<std::string> all =
            co_await mapConcurrent(numbers, 90, [&](int) { return answerText(client.get(url + "/slow")); });
        CHECK(std::count(all.begin(), all.end(), "200 ") == 90);
        CHECK(now() - begin < 0.2); // all at the same time
        CHECK(server->counters.connections == 1);
        CHECK(client.idle() == 1);
    });
}

TEST_CASE("client, HTTP/2: a request that is dropped, or takes too long, leaves the others alone") {
    if (!flow::net::http::detail::kSpeaksHttp2)
        return;
    served({}, [](std::string url, Served* server) -> Future<Void> {
        Client client({.firstByteTimeout = 2, .plainHttp2 = true});
        std::string got = co_await answerText(client.get(url + "/slow"));
        CHECK(got == "200 ");
        Future<std::string> dropped = answerText(client.get(url + "/never"));
        Future<std::string> late = answerText(client.get(url + "/never"));
        Future<std::string> good = answerText(client.get(url + "/slow"));
        co_await delay(0.05);
        dropped = Future<std::string>();
        got = co_await std::move(good);
        CHECK(got == "200 ");
        got = co_await std::move(late);
        CHECK(got == "timed_out: GET " + url + "/never: no answer has come within 2 s (firstByteTimeout)");
        co_await delay(0.1);
        CHECK(server->counters.inFlight == 0);
        CHECK(server->counters.connections == 1);
        {
            Future<Response> asking = client.post(url + "/echo", std::string(500'000, 'x'), "a/b");
            Response response = co_await std::move(asking);
            Bytes piece = co_await response.body.read();
            CHECK(!piece.empty()); // and drops the rest
        }
        got = co_await answerText(client.post(url + "/echo", "x", "a/b"));
        CHECK(got == "200 x");
        CHECK(server->counters.connections == 1);
    });
}

TEST_CASE("client and server: a server that ends connections at the moment of requests") {
    // Each connection ends when it was idle for 50 ms, which is about when the next request comes.
    served({.idle = 0.05}, [](std::string url, Served* server) -> Future<Void> {
        Client client;
        int ended = 0, kept = 0;
        for (int i = 0; i < 300; ++i) {
            std::string path = "/" + std::to_string(i);
            Future<Response> asking = i % 2 == 0 ? client.get(url + path) : client.post(url + path, "x", "a/b");
            std::string got = co_await answerText(std::move(asking));
            if (i % 2 == 0 || got == "200 ") {
                CHECK(got == "200 ");
                ++kept;
            } else { // a POST is not sent twice
                CHECK(got.starts_with("connection_"));
                ++ended;
            }
            CHECK(server->handled[(i % 2 == 0 ? "GET " : "POST ") + path] <= 1);
            co_await delay(0.045 + 0.0001 * (i % 70));
        }
        CHECK(kept > 150);
        CHECK(ended > 0); // so there were such moments
    });
}

TEST_CASE("client and server: connections that the server ends by its limits") {
    served({.requestsPerConnection = 3}, [](std::string url, Served* server) -> Future<Void> {
        Client client;
        for (int i = 0; i < 20; ++i) {
            std::string got = co_await answerText(client.post(url + "/p", "x", "a/b"));
            CHECK(got == "200 ");
        }
        CHECK(server->handled["POST /p"] == 20);
        CHECK(client.idle() == 1);
    });
}

namespace {

/// What has happened in a run with faults. It outlives the processes.
struct Seen {
    Handled handled;
    int asked = 0, answered = 0;
    std::string wrong;
};

Future<Void> serveForever(Seen* seen) {
    Handler handler = [seen](Request request) {
        ++seen->handled[request.method + " " + std::string(request.headers.get("Number"))];
        Response response;
        response.body = std::move(request.body);
        return Future<Response>(std::move(response));
    };
    Promise<Void> never;
    co_await serve(transport().listen(80), handler, {.idle = 0.5, .requestsPerConnection = 5}, never.getFuture());
}

Future<Void> askOne(Client* client, std::string url, Seen* seen) {
    int number = seen->asked++;
    Request request;
    request.method = number % 2 == 0 ? "PUT" : "POST";
    request.headers.add("Number", std::to_string(number));
    std::string body(static_cast<std::size_t>(number % 7 * 5000), char('a' + number % 26));
    request.body = body;
    std::string got = co_await answerText(client->send(std::move(request), url));
    if (got == "200 " + body)
        ++seen->answered;
    else if (!got.starts_with("connection_") && !got.starts_with("timed_out") && !got.starts_with("host_unreachable") &&
             !got.starts_with("200 connection_") && !got.starts_with("200 timed_out"))
        seen->wrong = got;
}

Future<Void> askForever(std::string url, bool isHttp2, Seen* seen) {
    ClientOptions options{.connectTimeout = 2, .firstByteTimeout = 3, .idleTimeout = 3, .timeout = 10};
    options.connections = 3;
    options.plainHttp2 = isHttp2;
    Client client(options);
    Scope asking;
    for (;;) {
        asking.spawn(askOne(&client, url, seen));
        co_await delay(0.2 * deterministicRandom()->random01());
        if (asking.size() > 10)
            co_await asking.join();
    }
}

} // namespace

TEST_CASE("client and server: under faults, an answer is the right one, and a POST is handled once at most") {
    int asked = 0, answered = 0, repeated = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        INFO(seed);
        Seen seen;
        bool isHttp2 = seed % 2 == 1 && flow::net::http::detail::kSpeaksHttp2;
        Faults faults = Faults::swarm(seed);
        faults.messageCorruption = faults.allocationFailure = faults.addressSwap = 0;
        faults.connectionReset *= 10;
        {
            World world(seed, faults);
            SimNetwork network(world);
            Process& server =
                world.start({.name = "server", .main = [&] { return serveForever(&seen); }, .restartAfter = 1});
            std::string url = "http://" + Address(server.address(), 80).toString() + "/";
            world.start({.name = "client", .main = [&] { return askForever(url, isHttp2, &seen); }, .restartAfter = 1});
            world.run(delay(60));
            CHECK(world.leakedCells() == 0);
        }
        CHECK(seen.wrong == "");
        for (auto const& [what, times] : seen.handled) {
            INFO(what);
            CHECK(times <= (what.starts_with("POST") ? 1 : 2));
            repeated += times - 1;
        }
        asked += seen.asked;
        answered += seen.answered;
    }
    CHECK(asked > 2000);
    CHECK(answered > asked / 2);
    CHECK(answered < asked);
    MESSAGE(asked, " asked, ", answered, " answered, ", repeated, " handled twice");
}

} // namespace client_server_test
