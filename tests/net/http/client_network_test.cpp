// The client on networks: cancelled at each step on a simulated one, and once on the machine's.
#include "flow/loop/real_loop.h"
#include "flow/sim/world.h"
#include "net/serve.h"
#include "net/sim/sim_network.h"
#include "tests/flow/support/trace_log.h"
#include "tests/net/http/client_support.h"

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace client_network_test {
using namespace flow::net::http;
namespace {

/// Answers each request with its chunked body, or with "ok" if it has none.
Future<Void> echoBodies(Reference<Connection> connection) {
    for (;;) {
        Bytes head = co_await connection->readUntil("\r\n\r\n"_sr, 10000);
        if (head.toString().find("chunked") == std::string::npos) {
            co_await connection->write(StringRef(kOk));
            continue;
        }
        co_await connection->write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"_sr);
        for (bool isLast = false; !isLast;) {
            Bytes line = co_await connection->readUntil("\r\n"_sr, 100);
            auto size = static_cast<std::uint32_t>(std::stoul(line.toString(), nullptr, 16));
            isLast = size == 0;
            co_await connection->write(line);
            Bytes chunk = co_await connection->readExactly(size + 2);
            co_await connection->write(chunk);
        }
    }
}

struct Pieces {
    int left = 4;
    static Future<Bytes> next(std::shared_ptr<Pieces> self) {
        co_await delay(0.002);
        Bytes piece;
        if (self->left-- > 0)
            piece = "piece "_sr;
        co_return piece;
    }
};

Request streamed() {
    Request request;
    request.method = "PUT";
    auto pieces = std::make_shared<Pieces>();
    request.body = Body::stream([pieces] { return Pieces::next(pieces); });
    return request;
}

/// What was seen of one kind.
struct Counts {
    int cut = 0, ended = 0;
    std::string wrong;
};

Future<Void> cancelAfter(int steps, bool byDropping, bool isKept, Counts* counts) {
    Reference<Listener> listener = transport().listen(80);
    std::string url = "http://" + transport().localAddress().hostToString() + "/";
    Promise<Void> stop;
    Future<Void> serving = serveUntil(listener, Serve(echoBodies), stop.getFuture(), 1.0);
    {
        Client client({.connections = 1});
        std::string got;
        if (isKept) {
            got = co_await answerText(client.get(url));
            if (got != "200 ok")
                counts->wrong = got;
        }
        Future<std::string> asking = answerText(client.send(streamed(), url));
        for (int i = 0; i < steps; ++i)
            co_await delay(i % 2 == 0 ? 0 : 0.0005);
        ++(asking.isReady() ? counts->ended : counts->cut);
        if (asking.isReady() && asking.get() != "200 piece piece piece piece ")
            counts->wrong = asking.get();
        if (!byDropping)
            asking.cancel();
        asking = Future<std::string>();
        got = co_await answerText(client.get(url)); // its place is free, and no rest of the other answer comes
        if (got != "200 ok")
            counts->wrong = got;
    }
    stop.send(Void());
    co_await std::move(serving);
}

} // namespace

TEST_CASE("client: a request that is cancelled at any step leaves nothing behind, and its place is free") {
    for (bool isKept : {false, true}) {
        Counts counts;
        for (int steps = 0; steps < 70 && counts.wrong.empty(); ++steps) {
            INFO("after ", steps, " steps");
            Blocks blocks;
            {
                World world(1);
                SimNetwork network(world, {.latency = 0.001, .jitter = 0, .bandwidth = 1e8});
                Process& process = world.start(
                    {.name = "p", .main = [&] { return cancelAfter(steps, steps % 3 != 0, isKept, &counts); }});
                world.run(process.onStop());
                CHECK(process.exit() == Error());
                CHECK(network.openEnds() == 0);
                CHECK(world.leakedCells() == 0);
            }
            CHECK(blocks.leaked() == 0);
        }
        CHECK(counts.wrong == "");
        CHECK(counts.cut > 10);
        CHECK(counts.ended > 2);
    }
}

TEST_CASE("client: on the machine's network") {
    RealLoop loop;
    auto test = []() -> Future<Void> {
        Reference<Listener> listener = transport().listen(Address(0x7F000001, 0));
        std::string at = listener->localAddress().toString();
        std::string url = "http://localhost:" + std::to_string(listener->localAddress().port()) + "/";
        Promise<Void> stop;
        Future<Void> serving = serveUntil(listener, Serve(echoBodies), stop.getFuture(), 1.0);
        {
            Client client;
            for (int i = 0; i < 3; ++i) {
                std::string got = co_await answerText(client.get(url));
                CHECK(got == "200 ok");
                got = co_await answerText(client.send(streamed(), url));
                CHECK(got == "200 piece piece piece piece ");
                CHECK(client.idle() == 1);
            }
            Request large;
            large.method = "PUT";
            auto body = std::make_shared<Body>(std::string(1'000'000, 'x'));
            large.body = Body::stream([body] { return body->read(); });
            std::string got = co_await answerText(client.send(std::move(large), url));
            CHECK(got == "200 " + std::string(1'000'000, 'x'));
            Future<Reference<Connection>> connecting = client.connect(url);
            Reference<Connection> connection = co_await std::move(connecting);
            CHECK(connection->peerAddress() == listener->localAddress());
        }
        stop.send(Void());
        co_await std::move(serving);
        Client other;
        std::string got = co_await answerText(other.get(url));
        CHECK(got == "connection_refused: GET " + url + ": connect to " + at + ": Connection refused");
    };
    loop.run(test());
}

} // namespace client_network_test
