// What check_http.py runs:
//     http_program streams        reads streams of bytes (a length of 4 bytes before each), and writes a line for each
//     http_program serve PORT     serves at 127.0.0.1 until SIGTERM

#include "flow/combine/all.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/wait/delay.h"
#include "flow/wait/signals.h"
#include "net/http/router.h"
#include "net/transport.h"
#include "tests/net/http/http_streams.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>

using namespace flow;
using namespace flow::net;
using namespace flow::net::http;

namespace {

void printHex(std::string const& bytes) {
    for (char c : bytes)
        std::printf("%02x", static_cast<std::uint8_t>(c));
}

int readStreams() {
    std::uint8_t head[4];
    while (std::fread(head, 1, 4, stdin) == 4) {
        std::string bytes(static_cast<std::size_t>(head[0]) << 24 | head[1] << 16 | head[2] << 8 | head[3], '\0');
        if (std::fread(bytes.data(), 1, bytes.size(), stdin) != bytes.size())
            return 1;
        FoundStream stream = readStream(bytes, bytes.size() + 1);
        if (stream != readStream(bytes, 1 + bytes.size() / 7))
            return 2;
        std::printf("%s", stream.end.c_str());
        for (FoundRequest const& each : stream.requests) {
            std::printf(" %s %s ", each.method.c_str(), each.target.c_str());
            printHex(each.body.empty() ? "-" : each.body);
        }
        std::printf("\n");
    }
    return 0;
}

Future<Response> echo(Request request) {
    Response response;
    response.headers.add("Content-Type", "application/octet-stream");
    response.body = std::move(request.body);
    co_return response;
}

Future<Response> hello(Request request) {
    if (request.parameter("slow"))
        co_await delay(0.05);
    Response response;
    response.body = "hello, " + std::string(request.path["name"]) + "\n";
    co_return response;
}

Future<Void> serveAt(std::uint16_t port) {
    Router router;
    router.add("GET", "/hello/{name}", hello);
    router.add("POST", "/echo", echo);
    Reference<Listener> listener = transport().listen(Address(0x7F000001, port), {.reusePort = true});
    std::printf("%u\n", unsigned{listener->localAddress().port()});
    std::fflush(stdout);
    co_await serve(listener, router, {.bodyBytes = 64 << 20}, success(keep(signals({SIGTERM}))));
}

} // namespace

int main(int count, char** arguments) {
    if (count == 2 && std::string(arguments[1]) == "streams")
        return readStreams();
    if (count != 3 || std::string(arguments[1]) != "serve")
        return 2;
    RealLoop loop;
    loop.run(serveAt(static_cast<std::uint16_t>(std::atoi(arguments[2]))));
    return 0;
}
