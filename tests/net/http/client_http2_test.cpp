// The client over HTTP/2, against the server of this library.
#include "flow/sim/world.h"
#include "flow/tasks/map_concurrent.h"
#include "net/http/detail/client_connection.h"
#include "net/http/server.h"
#include "net/sim/sim_network.h"
#include "tests/net/http/client_support.h"

#include <algorithm>
#include <numeric>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace client_http2_test {
using namespace flow::net::http;
namespace {

Future<Response> answer(Request request) {
    Response response;
    if (request.target.starts_with("/moved"))
        response = Response{.status = 307, .headers = {{"Location", "/echo"}}};
    else if (request.target == "/slow")
        co_await delay(0.1);
    else if (request.target == "/never")
        co_await Never();
    if (request.target == "/echo") {
        auto body = std::make_shared<Body>(std::move(request.body));
        response.body = Body::stream([body] { return body->read(); });
    } else if (request.target == "/host") {
        response.body = std::string(request.headers.get("Host"));
    }
    co_return std::move(response);
}

void served(Future<Void> (*test)(std::string url, ServerCounters* counters)) {
    if (!flow::net::http::detail::kSpeaksHttp2)
        return;
    World world(1);
    SimNetwork network(world, {.latency = 0.001, .jitter = 0.001, .bandwidth = 1e8});
    auto run = [](Future<Void> (*body)(std::string, ServerCounters*)) -> Future<Void> {
        ServerCounters counters;
        ServerOptions options;
        options.counters = &counters;
        Promise<Void> stop;
        Future<Void> serving = serve(transport().listen(80), Handler(answer), options, stop.getFuture());
        Future<Void> testing = body("http://" + transport().localAddress().hostToString(), &counters);
        co_await std::move(testing);
        stop.send(Void());
        co_await std::move(serving);
    };
    Process& process = world.start({.name = "p", .main = [&] { return run(test); }});
    world.run(process.onStop());
    CHECK(process.exit() == Error());
    CHECK(network.openEnds() == 0);
    CHECK(world.leakedCells() == 0);
}

} // namespace

TEST_CASE("client, HTTP/2: requests share a connection, with bodies of both kinds and redirects") {
    served([](std::string url, ServerCounters* counters) -> Future<Void> {
        Client client({.connections = 2, .plainHttp2 = true});
        std::string large(200'000, 'x');
        for (std::string body : {std::string("small"), large}) {
            std::string got = co_await answerText(client.post(url + "/echo", body, "a/b"));
            CHECK(got == "200 " + body);
            got = co_await answerText(client.post(url + "/moved", body, "a/b"));
            CHECK(got == "200 " + body);
            auto source = std::make_shared<Body>(body);
            Request request;
            request.method = "PUT";
            request.body = Body::stream([source] { return source->read(); });
            got = co_await answerText(client.send(std::move(request), url + "/echo"));
            CHECK(got == "200 " + body);
        }
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
        CHECK(counters->connections == 1);
        CHECK(client.idle() == 1);
    });
}

TEST_CASE("client, HTTP/2: a request that is dropped, or takes too long, leaves the others alone") {
    served([](std::string url, ServerCounters* counters) -> Future<Void> {
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
        CHECK(counters->inFlight == 0);
        CHECK(counters->connections == 1);
        {
            Future<Response> asking = client.post(url + "/echo", std::string(500'000, 'x'), "a/b");
            Response response = co_await std::move(asking);
            Bytes piece = co_await response.body.read();
            CHECK(!piece.empty()); // and drops the rest
        }
        got = co_await answerText(client.post(url + "/echo", "x", "a/b"));
        CHECK(got == "200 x");
        CHECK(counters->connections == 1);
    });
}

} // namespace client_http2_test
