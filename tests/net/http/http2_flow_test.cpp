// Windows, cancels, errors and the end.

#include "tests/net/http/http2_support.h"

#include <functional>

namespace http2_flow_test {
using namespace flow;
using namespace flow::test;
using namespace flow::test::http2;
namespace {

/// Gives `count` pieces of 10,000 bytes, and counts them.
Body counted(int* given, int count) {
    return Body::stream([given, count]() -> Future<Bytes> {
        if (*given == count)
            return Bytes();
        ++*given;
        return Bytes(StringRef(std::string(10'000, 'x')));
    });
}

/// Sets a bool when it is destroyed.
struct Notice {
    bool* isGone;
    explicit Notice(bool* g) : isGone(g) {}
    Notice(Notice const&) = delete;
    ~Notice() { *isGone = true; }
};

Future<Bytes> slowPiece(int* left) {
    co_await delay(0.1);
    if (--*left <= 0)
        co_return Bytes();
    co_return "slow"_sr;
}

} // namespace

TEST_CASE("http2: a window is given back only as the handler reads") {
    simulated([]() -> Future<Void> {
        Promise<Void> go;
        Server server(
            [&](Request request) -> Future<Response> {
                if (request.target == "/other")
                    co_return response("quick");
                co_await go.getFuture();
                std::string all = co_await request.body.text(100'000'000);
                co_return response(std::to_string(all.size()));
            },
            {.bodyBytes = 100'000'000});
        Reference<Http2Client> client = server.client();
        int given = 0;
        Future<ErrorOr<Response>> sending = sent(client, "/", counted(&given, 500));
        co_await delay(1);
        CHECK(given >= 26); // 256 KiB
        CHECK(given <= 28);
        ErrorOr<Response> other = co_await sent(client, "/other");
        CHECK(other.get().status == 200);
        go.send(Void());
        ErrorOr<Response> got = co_await sending;
        CHECK(given == 500);
        std::string text = co_await got.get().body.text(100);
        CHECK(text == "5000000");
    });
}

TEST_CASE("http2: a client that reads slowly makes the server wait") {
    simulated([]() -> Future<Void> {
        int given = 0;
        Server server([&](Request) -> Future<Response> { co_return response(counted(&given, 500)); });
        Reference<Http2Client> client = server.client();
        ErrorOr<Response> got = co_await sent(client, "/");
        co_await delay(1);
        CHECK(given <= 28);
        std::string all = co_await got.get().body.text(10'000'000);
        CHECK(all.size() == 5'000'000);
    });
}

TEST_CASE("http2: a body that is too large") {
    simulated([]() -> Future<Void> {
        Server server(
            [](Request request) -> Future<Response> {
                std::string all = co_await request.body.text(100'000'000);
                co_return response(all);
            },
            {.bodyBytes = 1000});
        Reference<Http2Client> client = server.client();
        ErrorOr<Response> got = co_await sent(client, "/", std::string(2000, 'x'));
        CHECK(got.get().status == 413);
        int given = 0;
        got = co_await sent(client, "/", counted(&given, 10));
        CHECK(got.get().status == 413);
    });
}

TEST_CASE("http2: dropping a request cancels its handler") {
    simulated([]() -> Future<Void> {
        bool isGone = false;
        Server server([&](Request) -> Future<Response> {
            Notice notice(&isGone);
            co_await Future<Void>(Never());
            co_return Response();
        });
        Reference<Http2Client> client = server.client();
        Future<ErrorOr<Response>> sending = sent(client, "/");
        co_await delay(1);
        CHECK(server.counters.inFlight == 1);
        CHECK(!isGone);
        sending = {};
        co_await delay(1);
        CHECK(isGone);
        CHECK(client->isOpen());
        CHECK(client->streams() == 0);
    });
}

TEST_CASE("http2: dropping the body of a response ends the body at the server") {
    simulated([]() -> Future<Void> {
        int left = 1'000'000;
        Server server(
            [&](Request) -> Future<Response> { co_return response(Body::stream([&] { return slowPiece(&left); })); });
        Reference<Http2Client> client = server.client();
        {
            ErrorOr<Response> got = co_await sent(client, "/");
            Bytes piece = co_await got.get().body.read();
            CHECK(piece == "slow"_sr);
        }
        co_await delay(1);
        CHECK(server.counters.inFlight == 0);
        int before = left;
        co_await delay(1);
        CHECK(left == before);
    });
}

TEST_CASE("http2: a body that fails is cut off, and the connection goes on") {
    simulated([]() -> Future<Void> {
        Server server([](Request request) -> Future<Response> {
            if (request.target == "/late")
                throw io_error();
            auto count = std::make_shared<int>(0);
            co_return response(Body::stream([count]() -> Future<Bytes> {
                if (++*count == 3)
                    return io_error();
                return Bytes("piece"_sr);
            }));
        });
        Reference<Http2Client> client = server.client();
        ErrorOr<Response> got = co_await sent(client, "/");
        Future<std::string> reading = got.get().body.text(1000);
        ErrorOr<std::string> text = co_await tryGet(std::move(reading));
        CHECK(text.getError() == connection_reset());
        got = co_await sent(client, "/late");
        CHECK(got.get().status == 500);
        got = co_await sent(client, "/", Body::stream([]() -> Future<Bytes> { return io_error(); }));
        CHECK(got.getError() == io_error());
        CHECK(client->isOpen());
    });
}

TEST_CASE("http2: the end of a server") {
    simulated([]() -> Future<Void> {
        Server server([](Request) -> Future<Response> {
            co_await delay(5);
            co_return response("late");
        });
        Reference<Connection> client = server.connect();
        client->write(Bytes(StringRef(kStart + frame(HeadersFrame, EndStream | EndHeaders, 1, request()))));
        co_await delay(0.1);
        server.ending.set();
        Frame notice = co_await frameOf(Goaway, client);
        CHECK(notice.number(0) == 0x7fffffff);
        client->write(Bytes(StringRef(frame(HeadersFrame, EndStream | EndHeaders, 3, request())))); // just in time
        Frame ping = co_await frameOf(Ping, client);
        client->write(Bytes(StringRef(frame(Ping, Ack, 0, ping.payload))));
        Frame last = co_await frameOf(Goaway, client);
        CHECK(last.number(0) == 3);
        CHECK(last.number(4) == 0);
        CHECK(now() < 1);
        Frame body = co_await frameOf(Data, client);
        CHECK(body.payload == "late");
        body = co_await frameOf(Data, client);
        CHECK(body.payload == "late");
        Frame end = co_await frameOf(-1, client);
        client->close();
        co_await server.serving;
    });
}

TEST_CASE("http2: a client at the end of a server") {
    simulated([]() -> Future<Void> {
        Server server([](Request) -> Future<Response> {
            co_await delay(5);
            co_return response("late");
        });
        Reference<Http2Client> client = server.client();
        Future<ErrorOr<Response>> sending = sent(client, "/");
        co_await delay(0.1);
        server.ending.set();
        co_await delay(0.1);
        CHECK(!client->isOpen());
        ErrorOr<Response> later = co_await sent(client, "/");
        CHECK(later.getError() == retry());
        ErrorOr<Response> got = co_await sending;
        std::string text = co_await got.get().body.text(100);
        CHECK(text == "late");
        co_await server.serving;
    });
}

TEST_CASE("http2: an idle connection ends, and one that has had its requests") {
    simulated([]() -> Future<Void> {
        ServerOptions options;
        options.requestsPerConnection = 3;
        Server server([](Request) -> Future<Response> { co_return response("x"); }, options);
        Reference<Http2Client> client = server.client();
        for (int i = 0; i < 3; ++i) {
            CHECK(client->isOpen());
            ErrorOr<Response> got = co_await sent(client, "/");
            CHECK(got.get().status == 200);
        }
        co_await tryGet(std::exchange(server.serving, {})); // the client may close first
        CHECK(now() < 3);
        CHECK(!client->isOpen());
        double before = now();
        client = server.client();
        co_await tryGet(std::exchange(server.serving, {}));
        CHECK(now() - before == doctest::Approx(60).epsilon(0.1));
    });
}

TEST_CASE("http2: a response without its end") {
    simulated([]() -> Future<Void> {
        int left = 100;
        Server server(
            [&](Request) -> Future<Response> { co_return response(Body::stream([&] { return slowPiece(&left); })); });
        Reference<Http2Client> client = server.client();
        ErrorOr<Response> got = co_await sent(client, "/");
        Future<std::string> reading = got.get().body.text(1000);
        co_await delay(1);
        server.serving = {};
        ErrorOr<std::string> text = co_await tryGet(std::move(reading));
        CHECK(text.getError() == connection_cut_off());
        CHECK(!client->isOpen());
    });
}

TEST_CASE("http2: a cancel at any time leaves nothing") {
    for (int what = 0; what < 3; ++what)
        for (double after = 0; after < 1; after += 0.05) {
            SimLoop loop;
            Balance balance;
            auto run = [](int what, double after) -> Future<Void> {
                int left = 4, sentPieces = 4;
                Server server([&](Request request) -> Future<Response> {
                    std::string all = co_await request.body.text(1000);
                    co_await delay(0.1);
                    co_return response(Body::stream([&] { return slowPiece(&left); }));
                });
                Reference<Http2Client> client = server.client();
                auto exchange = [](Reference<Http2Client> client, int* left) -> Future<Void> {
                    ErrorOr<Response> got =
                        co_await sent(client, "/", Body::stream([left] { return slowPiece(left); }));
                    if (!got.isError()) {
                        Future<std::string> reading = got.get().body.text(1000);
                        co_await tryGet(std::move(reading));
                    }
                };
                Future<Void> exchanging = exchange(client, &sentPieces);
                co_await delay(after);
                if (what == 0)
                    exchanging = {};
                if (what == 1)
                    server.serving = {};
                if (what == 2)
                    client = {}, exchanging = {};
                co_await delay(2);
                CHECK(server.counters.inFlight == 0);
                CHECK((what == 0) == (client && client->isOpen()));
                CHECK((!client || client->streams() == 0));
            };
            loop.run(run(what, after));
        }
}

} // namespace http2_flow_test
