#pragma once
// A server and a client of HTTP/2 on a pair of connections, and frames that are made by hand.

#include "flow/core/error_or.h"
#include "flow/coro/coroutine.h"
#include "flow/sim/sim_loop.h"
#include "flow/wait/delay.h"
#include "net/http/detail/http2_client.h"
#include "net/http/detail/http2_server.h"
#include "net/testing/connection_pair.h"
#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace flow::test::http2 {

using namespace flow::net;
using namespace flow::net::http;
using flow::net::http::detail::Http2Client;
using flow::net::http::detail::serveHttp2;
using flow::net::http::detail::Service;

/// Serves one connection.
struct Server {
    explicit Server(Handler handler, ServerOptions options = {})
        : service(http::detail::toTheEnd(std::move(handler)), withCounters(std::move(options))) {}

    /// Returns the client's end.
    Reference<Connection> connect() {
        ConnectionPair pair = connectionPair();
        serving = serveHttp2(&service, std::exchange(pair.second, {}), Bytes(), &ending);
        return pair.first;
    }
    Reference<Http2Client> client(Http2Client::Options options = {}) {
        return Http2Client::over(connect(), std::move(options));
    }

    ServerCounters counters;
    Service service;
    Event ending;
    Future<Void> serving;

private:
    ServerOptions withCounters(ServerOptions options) {
        options.counters = &counters;
        return options;
    }
};

inline void simulated(Future<Void> (*test)()) {
    SimLoop loop;
    Balance balance;
    loop.run(test());
}

inline Response response(Body body, int status = 200) {
    Response made;
    made.status = status;
    made.body = std::move(body);
    return made;
}

// ---- frames

enum Type : std::uint8_t {
    Data,
    HeadersFrame,
    Priority,
    ResetStream,
    Settings,
    PushPromise,
    Ping,
    Goaway,
    Window,
    Continuation
};
enum Flag : std::uint8_t { EndStream = 1, Ack = 1, EndHeaders = 4 };

struct Frame {
    int type = -1; // -1: the end of the connection
    int flags = 0;
    std::uint32_t stream = 0;
    std::string payload;

    std::uint32_t number(std::size_t at) const {
        std::uint32_t value = 0;
        for (std::size_t i = at; i < at + 4; ++i)
            value = value << 8 | static_cast<std::uint8_t>(payload.at(i));
        return value;
    }
};

inline std::string bigEndian(std::uint32_t value, int bytes) {
    std::string text;
    while (bytes-- > 0)
        text += static_cast<char>(value >> (8 * bytes));
    return text;
}
inline std::string frame(int type, int flags, std::uint32_t stream, std::string const& payload) {
    return bigEndian(static_cast<std::uint32_t>(payload.size()), 3) + static_cast<char>(type) +
           static_cast<char>(flags) + bigEndian(stream, 4) + payload;
}
/// A field that is not indexed, for HPACK; the value has at most 126 bytes.
inline std::string field(std::string const& name, std::string const& value) {
    return std::string(1, '\0') + static_cast<char>(name.size()) + name + static_cast<char>(value.size()) + value;
}
inline std::string request(std::string const& method = "GET", std::string const& path = "/") {
    return field(":method", method) + field(":scheme", "http") + field(":authority", "a") + field(":path", path);
}
inline std::string const kStart = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(Settings, 0, 0, "");

inline Future<Frame> nextFrame(Reference<Connection> connection) {
    Frame frame;
    Future<Bytes> reading = keep(connection->readExactly(9));
    ErrorOr<Bytes> head = co_await tryGet(std::move(reading));
    if (head.isError())
        co_return frame;
    auto at = [&](int i) { return static_cast<std::uint32_t>(head.get()[i]); };
    std::uint32_t size = at(0) << 16 | at(1) << 8 | at(2);
    frame.type = static_cast<int>(at(3));
    frame.flags = static_cast<int>(at(4));
    frame.stream = at(5) << 24 | at(6) << 16 | at(7) << 8 | at(8);
    if (size != 0) {
        Bytes payload = co_await connection->readExactly(size);
        frame.payload = payload.toString();
    }
    co_return frame;
}
/// Reads frames up to one of this type, or to the end.
inline Future<Frame> frameOf(int type, Reference<Connection> connection) {
    for (;;) {
        Frame frame = co_await nextFrame(connection);
        if (frame.type == type || frame.type == -1)
            co_return frame;
    }
}

inline Future<ErrorOr<Response>> sent(Reference<Http2Client> client, std::string target, Body body = {}) {
    Request request;
    request.method = body.isEmpty() ? "GET" : "POST";
    request.target = target;
    request.headers.add("Host", "a");
    request.body = std::move(body);
    Future<Response> sending = client->send(std::move(request));
    ErrorOr<Response> result = co_await tryGet(std::move(sending));
    co_return std::move(result);
}

} // namespace flow::test::http2
