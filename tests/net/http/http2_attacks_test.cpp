// Clients that try to use up the memory or the time of a server.

#include "tests/net/http/http2_support.h"

namespace http2_attacks_test {
using namespace flow;
using namespace flow::test;
using namespace flow::test::http2;
namespace {

constexpr std::uint32_t kCalm = 11, kProtocolError = 1, kRefused = 7, kCancel = 8;

Future<Response> hello(Request) {
    co_return response("hello");
}
Future<Response> never(Request) {
    co_await Future<Void>(Never());
    co_return Response();
}

std::string get(std::uint32_t stream, int flags = EndStream | EndHeaders) {
    return frame(HeadersFrame, flags, stream, request());
}

/// Sends the frames, of which there are `count`, and checks that the server ends the connection with this error.
void attack(Handler handler, int count, std::string (*next)(int), std::uint32_t code) {
    SimLoop loop;
    Balance balance;
    Server server(std::move(handler));
    auto run = [](Server* server, int count, std::string (*next)(int), std::uint32_t code) -> Future<Void> {
        Reference<Connection> client = server->connect();
        std::string all = kStart;
        for (int i = 0; i < count; ++i)
            all += next(i);
        client->write(Bytes(StringRef(all)));
        Frame end = co_await frameOf(Goaway, client);
        REQUIRE(end.type == Goaway);
        CHECK(end.number(4) == code);
        end = co_await frameOf(-1, client);
        client->close();
        co_await tryGet(std::exchange(server->serving, {}));
        CHECK(server->counters.inFlight == 0);
        CHECK(server->counters.requests < 400);
    };
    loop.run(run(&server, count, next, code));
}

std::uint32_t idOf(int i) {
    return static_cast<std::uint32_t>(2 * i + 1);
}

} // namespace

TEST_CASE("http2 attack: streams that the client resets at once") {
    auto next = [](int i) { return get(idOf(i)) + frame(ResetStream, 0, idOf(i), bigEndian(kCancel, 4)); };
    attack(never, 1000, next, kCalm);
    attack(hello, 1000, next, kCalm);
}

TEST_CASE("http2 attack: streams that the client makes the server reset") {
    attack(
        never, 1000, [](int i) { return get(idOf(i)) + frame(Window, 0, idOf(i), bigEndian(0x7fffffff, 4)); }, kCalm);
}

TEST_CASE("http2 attack: more streams than allowed, again and again") {
    attack(never, 1000, [](int i) { return get(idOf(i)); }, kCalm);
}

TEST_CASE("http2 attack: frames that carry nothing") {
    attack(hello, 20'000, [](int) { return frame(Settings, 0, 0, ""); }, kCalm);
    attack(hello, 20'000, [](int) { return frame(Ping, 0, 0, "12345678"); }, kCalm);
    attack(never, 20'000, [](int i) { return i == 0 ? get(1, EndHeaders) : frame(Data, 0, 1, ""); }, kCalm);
}

TEST_CASE("http2 attack: a head without an end") {
    attack(hello, 20, [](int i) { return frame(i == 0 ? HeadersFrame : Continuation, 0, 1, field("a", "b")); }, kCalm);
}

TEST_CASE("http2 attack: a client that sends pings, and reads nothing") {
    simulated([]() -> Future<Void> {
        Server server(hello);
        Reference<Connection> client = server.connect();
        std::string pings = kStart;
        for (int i = 0; i < 9'000; ++i)
            pings += frame(Ping, 0, 0, "12345678");
        client->write(Bytes(StringRef(pings)));
        ErrorOr<Void> end = co_await tryGet(std::exchange(server.serving, {}));
        REQUIRE(end.isError());
        CHECK(end.getError() == timed_out());
        CHECK(now() == doctest::Approx(30).epsilon(0.1)); // writeTime
    });
}

TEST_CASE("http2 attack: a small head that becomes a large one") {
    simulated([]() -> Future<Void> {
        std::vector<int> statuses;
        ServerOptions options;
        options.onEnd = [&](Exchange const& exchange) { statuses.push_back(exchange.status); };
        Server server(hello, options);
        Reference<Connection> client = server.connect();
        // One field of 3000 bytes goes into the table; then each byte refers to it.
        std::string value(3000, 'v'),
            size = {'\x7f', static_cast<char>(0x80 | ((3000 - 127) & 0x7f)), (3000 - 127) >> 7};
        std::string bomb = request() + std::string("\x40\x01x", 3) + size + value + std::string(10'000, '\xbe');
        client->write(Bytes(StringRef(kStart + frame(HeadersFrame, EndStream | EndHeaders, 1, bomb))));
        Frame answer = co_await frameOf(HeadersFrame, client);
        CHECK(answer.stream == 1);
        client->write(Bytes(StringRef(get(3))));
        answer = co_await frameOf(HeadersFrame, client);
        CHECK(answer.stream == 3);
        co_await delay(1);
        CHECK(statuses == std::vector<int>{431, 200});
        CHECK(server.counters.requests == 1);
    });
}

TEST_CASE("http2 attack: more streams at a time than allowed") {
    simulated([]() -> Future<Void> {
        Server server(never);
        Reference<Connection> client = server.connect();
        std::string all = kStart;
        for (int i = 0; i < 150; ++i)
            all += get(idOf(i));
        client->write(Bytes(StringRef(all)));
        for (int i = 100; i < 150; ++i) {
            Frame refused = co_await frameOf(ResetStream, client);
            CHECK(refused.stream == idOf(i));
            CHECK(refused.number(0) == kRefused);
        }
        CHECK(server.counters.inFlight == 100);
        client->abort();
        co_await tryGet(std::exchange(server.serving, {}));
        CHECK(server.counters.inFlight == 0);
    });
}

TEST_CASE("http2 attack: a head that comes slowly") {
    simulated([]() -> Future<Void> {
        Server server(hello);
        Reference<Connection> client = server.connect();
        client->write(Bytes(StringRef(kStart + get(1, EndStream))));
        ErrorOr<Void> end = co_await tryGet(std::exchange(server.serving, {}));
        CHECK(end.getError() == timed_out());
        CHECK(now() >= 10); // headerTime
        CHECK(now() <= 21);
    });
}

TEST_CASE("http2 attack: a client that does not read the body") {
    simulated([]() -> Future<Void> {
        Server server([](Request) -> Future<Response> { co_return response(std::string(1'000'000, 'x')); });
        Reference<Connection> client = server.connect();
        client->write(Bytes(StringRef(kStart + get(1))));
        Frame end = co_await frameOf(ResetStream, client);
        CHECK(end.number(0) == kCancel);
        CHECK(now() == doctest::Approx(30).epsilon(0.1)); // writeTime
        co_await delay(1);
        CHECK(server.counters.inFlight == 0);
    });
}

TEST_CASE("http2 attack: two names of the host") {
    simulated([]() -> Future<Void> {
        Server server(hello);
        Reference<Connection> client = server.connect();
        std::string head = request() + field("host", "b");
        client->write(Bytes(StringRef(kStart + frame(HeadersFrame, EndStream | EndHeaders, 1, head))));
        Frame end = co_await frameOf(ResetStream, client);
        CHECK(end.number(0) == kProtocolError);
        CHECK(server.counters.requests == 0);
    });
}

TEST_CASE("http2 attack: bytes that are no HTTP/2") {
    simulated([]() -> Future<Void> {
        Server server(hello);
        Reference<Connection> client = server.connect();
        client->write("PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n"_sr);
        Frame end = co_await frameOf(-1, client);
        client->close();
        co_await server.serving;
        CHECK(server.counters.requests == 0);
    });
}

} // namespace http2_attacks_test
