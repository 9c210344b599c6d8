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
        Promise<Void> begin, go;
        Server server(
            [&](Request request) -> Future<Response> {
                if (request.target == "/other")
                    co_return response("quick");
                co_await begin.getFuture();
                Bytes first = co_await request.body.read();
                co_await go.getFuture();
                std::string all = co_await request.body.text(100'000'000);
                co_return response(std::to_string(static_cast<std::size_t>(first.size()) + all.size()));
            },
            {.bodyBytes = 100'000'000});
        Reference<Http2Client> client = server.client();
        int given = 0;
        Future<ErrorOr<Response>> sending = sent(client, "/", counted(&given, 500));
        co_await delay(1);
        CHECK(given <= 8); // 16 KiB, or 64 of a client that does not know the settings yet
        begin.send(Void());
        co_await delay(1);
        CHECK(given >= 26); // 256 KiB, and what the handler has read
        CHECK(given <= 35);
        ErrorOr<Response> other = co_await sent(client, "/other");
        CHECK(other.get().status == 200);
        go.send(Void());
        ErrorOr<Response> got = co_await sending;
        CHECK(given == 500);
        std::string text = co_await got.get().body.text(100);
        CHECK(text == "5000000");
    });
}

TEST_CASE("http2: requests that wait for their turn do not stop the body of the one that runs") {
    for (int how = 0; how < 3; ++how) {
        SimLoop loop;
        Balance balance;
        auto run = [](int how) -> Future<Void> {
            Server server(
                [how](Request request) -> Future<Response> {
                    std::size_t bytes = 0;
                    for (;;) {
                        Bytes piece = co_await request.body.read();
                        if (piece.empty() || (how == 1 && bytes > 100'000))
                            break;
                        bytes += static_cast<std::size_t>(piece.size());
                        if (how == 2)
                            co_await delay(0.01);
                    }
                    co_return response(std::to_string(bytes));
                },
                {.bodyBytes = 100'000'000, .concurrentRequests = 1});
            Reference<Http2Client> client = server.client();
            std::vector<int> given(40, 0);
            std::vector<Future<ErrorOr<Response>>> all;
            for (int& each : given)
                all.push_back(sent(client, "/", counted(&each, 50)));
            for (Future<ErrorOr<Response>>& each : all) {
                ErrorOr<Response> got = co_await std::move(each);
                REQUIRE(!got.isError());
                std::string text = co_await got.get().body.text(100);
                CHECK((how == 1 || text == "500000"));
            }
            CHECK(now() < 30); // no time limit has ended a wait
            client = {};
            co_await tryGet(std::exchange(server.serving, {}));
        };
        loop.run(run(how));
    }
}

TEST_CASE("http2: a client may leave bodies unread for another one") {
    simulated([]() -> Future<Void> {
        std::vector<int> given(20, 0);
        std::size_t next = 0;
        Server server([&](Request) -> Future<Response> { co_return response(counted(&given[next++], 50)); });
        Reference<Http2Client> client = server.client();
        std::vector<ErrorOr<Response>> all;
        for (std::size_t i = 0; i < given.size(); ++i) {
            ErrorOr<Response> got = co_await sent(client, "/");
            all.push_back(std::move(got));
        }
        for (; !all.empty(); all.pop_back()) {
            std::string text = co_await all.back().get().body.text(1'000'000);
            CHECK(text.size() == 500'000);
        }
        CHECK(now() < 1);
    });
}

TEST_CASE("http2: an answer before the end of the request") {
    simulated([]() -> Future<Void> {
        Server server([](Request request) -> Future<Response> {
            co_return response("early", request.target == "/fine" ? 200 : 404);
        });
        Reference<Connection> client = server.connect();
        std::string all = kStart;
        for (std::uint32_t id : {1u, 3u, 5u})
            all += frame(HeadersFrame, EndHeaders, id, request("POST", id == 1 ? "/fine" : "/error")) +
                   frame(Data, 0, id, std::string(1000, 'x'));
        client->write(Bytes(StringRef(all)));
        Frame end = co_await frameOf(ResetStream, client);
        CHECK(end.stream == 1); // the rest of the request is not needed
        CHECK(end.number(0) == 0);
        co_await delay(0.5);
        CHECK(server.counters.inFlight == 0);
        // After an error, what comes is dropped for a moment.
        client->write(Bytes(StringRef(frame(Data, 0, 5, std::string(1000, 'x')) + frame(Data, EndStream, 3, "x"))));
        end = co_await frameOf(ResetStream, client);
        CHECK(end.stream == 5);
        CHECK(end.number(0) == 0);
        CHECK(now() == doctest::Approx(1).epsilon(0.1));
        client->close();
        co_await tryGet(std::exchange(server.serving, {}));
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

TEST_CASE("http2: a request behind the last GOAWAY is not handled, even if the GOAWAY waits behind a body") {
    simulated([]() -> Future<Void> {
        int handled = 0;
        Server server([&](Request) -> Future<Response> {
            ++handled;
            return Future<Response>(response(std::string(1'000'000, 'x')));
        });
        Reference<Connection> client = server.connect();
        std::string window = frame(Settings, 0, 0, bigEndian(4, 2) + bigEndian(1 << 20, 4));
        client->write(Bytes(StringRef(kStart + window + frame(Window, 0, 0, bigEndian(1 << 20, 4)) +
                                      frame(HeadersFrame, EndStream | EndHeaders, 1, request()))));
        co_await delay(0.1);
        server.ending.set();
        co_await delay(1.5); // the client has not read the notice, nor answered the ping
        client->write(Bytes(StringRef(frame(HeadersFrame, EndStream | EndHeaders, 3, request("POST")))));
        co_await delay(0.1);
        CHECK(handled == 1);
        co_await frameOf(Goaway, client);
        Frame last = co_await frameOf(Goaway, client);
        CHECK(last.number(0) == 1);
        Frame refused = co_await frameOf(ResetStream, client);
        CHECK(refused.stream == 3);
        CHECK(refused.number(0) == 7);
        CHECK(handled == 1);
        co_await frameOf(-1, client);
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
