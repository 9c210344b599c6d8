// websocket_peer serve: prints its address, and sends back each message, until SIGTERM comes.
// websocket_peer ask URL: sends messages, prints those that come, and how the socket ends.
// check_websocket.py plays the other side.

#include "net/examples/program.h"
#include "net/http/client.h"
#include "net/http/server.h"
#include "net/http/websocket.h"

using namespace flow;
using namespace flow::net;

namespace {

http::WebSocketOptions options() {
    http::WebSocketOptions options;
    options.largestMessage = 1 << 20;
    options.pingEvery = 0.2;
    options.protocols = {"echo.v1"};
    return options;
}

Future<Void> echo(Reference<http::WebSocket> socket) {
    for (;;) {
        http::WebSocketMessage message = co_await socket->receive();
        if (message.data == "close")
            co_await socket->close(4001, "as you like");
        co_await socket->send(message);
    }
}

Future<Void> serveEcho() {
    auto answer = [](http::Request request) -> Future<http::Response> {
        return acceptWebSocket(request, echo, options());
    };
    Future<Void> stop = endOfProgram();
    return http::serve(listenAt("0"), http::Handler(answer), {}, stop);
}

Future<Void> ask(std::string url) {
    http::Client client;
    Future<Reference<http::WebSocket>> connecting = connectWebSocket(client, url, options());
    Reference<http::WebSocket> socket = co_await std::move(connecting);
    std::printf("protocol %s\n", socket->protocol().c_str());
    socket->sendText("h\xC3\xA4llo");
    socket->sendBinary(std::string(100'000, '\xFF'));
    socket->sendText("");
    try {
        for (;;) {
            http::WebSocketMessage message = co_await socket->receive();
            std::printf("%s of %zu bytes\n", message.isText ? "text" : "binary", message.data.size());
            std::fflush(stdout);
            if (message.data == "close")
                co_await socket->close(1000, "enough");
        }
    } catch (Error& error) {
        if (error == actor_cancelled())
            throw;
        std::printf("%s %d %s\n", error.name(), socket->closeCode(), socket->closeReason().c_str());
    }
    co_await socket->closed();
}

} // namespace

int main(int argc, char** argv) {
    return runExample(argc, argv, "serve | ask URL", 1, 2, [](Arguments const& arguments) {
        return arguments[0] == "serve" ? serveEcho() : ask(arguments.back());
    });
}
