// web_chat PORT PAGE: a chat room for browsers; the page is web_chat.html. SIGTERM and SIGINT end it cleanly.
//
//     $ web_chat 8080 net/examples/web_chat.html          # and open http://127.0.0.1:8080/ in two windows
#include "net/examples/program.h"
#include "net/http/server.h"
#include "net/http/websocket.h"

#include <fstream>

using namespace flow;
using namespace flow::net;

using Room = std::map<std::string, Reference<http::WebSocket>>; // by name

void say(Room& room, std::string const& text) {
    for (auto const& [name, socket] : room) {
        (void)socket->sendText(text); // not awaited: a guest that does not read must not stop the others
        if (socket->queuedBytes() > 1'000'000)
            (void)socket->close(1008, "you do not read");
    }
}

struct Guest {
    Room& room;
    std::string name;
    ~Guest() {
        room.erase(name);
        say(room, "* " + name + " goes");
    }
};

Future<Void> chat(Room* room, std::string name, Reference<http::WebSocket> socket) {
    Guest guest{*room, name};
    room->emplace(name, socket);
    for (say(*room, "* " + name + " comes");;) {
        http::WebSocketMessage message = co_await socket->receive();
        say(*room, name + ": " + message.data);
    }
}

Future<http::Response> answer(Room* room, std::string const& page, http::Request const& request) {
    if (http::pathOfTarget(request.target) != "/chat")
        return http::Response{.headers = {{"Content-Type", "text/html; charset=utf-8"}}, .body = page};
    std::string own = "http://" + std::string(request.headers.get("Host"));
    if (request.headers.get("Origin", own) != own) // the request is from a page of another site
        return http::Response{.status = 403};
    auto enter = [room, name = request.peer.toString()](auto socket) { return chat(room, name, socket); };
    return acceptWebSocket(request, enter, {.largestMessage = 1000});
}

int main(int argc, char** argv) {
    Room room;
    return runExample(argc, argv, "PORT PAGE", 2, 2, [&](Arguments const& arguments) {
        std::ifstream file(arguments[1]);
        std::string page(std::istreambuf_iterator<char>(file), {});
        auto serveRoom = [&room, page](http::Request request) { return answer(&room, page, request); };
        Future<Void> stop = endOfProgram();
        return http::serve(listenAt(arguments[0]), http::Handler(serveRoom), {}, stop);
    });
}
