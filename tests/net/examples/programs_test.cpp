// What the examples do, in a simulation. Built once with their coroutines and once with their actors.
#include "flow/combine/all.h"
#include "flow/coro/coroutine.h"
#include "flow/sim/world.h"
#include "flow/wait/delay.h"
#include "net/connect.h"
#include "net/examples/chat.h"
#include "net/examples/echo.h"
#include "net/examples/http_server.h"
#include "net/examples/proxy.h"
#include "net/examples/resolve.h"
#include "net/serve.h"
#include "net/sim/sim_network.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <unistd.h>

using namespace flow;
using namespace flow::net;

namespace {

/// Serves at port 1, for ever.
template <class Serve>
Future<Void> serveAtOne(Serve serve) {
    return serveUntil(transport().listen(1), serve, Never(), 1);
}

Future<Void> serveEcho() {
    return serveAtOne(echo);
}
Future<Void> serveChat() {
    static Room room; // of one world at a time
    room = Room();
    return serveAtOne([](Reference<Connection> guest, Event* ending) { return chat(&room, guest, ending); });
}
Future<Void> serveProxy() {
    return serveAtOne([](Reference<Connection> client) { return proxy({"echo", 1}, client); });
}

Future<std::string> readAll(Reference<Connection> connection) {
    std::string text;
    for (;;) {
        Bytes bytes = co_await connection->read();
        if (bytes.empty())
            co_return text;
        text += bytes.toString();
    }
}

/// Sends something, ends its writing, and gets it back.
Future<Void> sendThrough(std::string name) {
    Reference<Connection> connection = co_await net::connect(name, 1);
    std::string sent;
    for (int i = 0; i < 1000; ++i)
        sent += std::to_string(i) + " ";
    for (int i = 0; i < 10; ++i) {
        co_await connection->write(StringRef(sent));
        co_await delay(0.1);
    }
    connection->shutdownWrite();
    std::string received = co_await readAll(connection);
    CHECK(received.size() == 10 * sent.size());
    CHECK(received.starts_with(sent + sent));
}

Future<Void> meet(Address server) {
    Reference<Connection> one = co_await transport().connect(server);
    co_await delay(1);
    {
        Reference<Connection> two = co_await transport().connect(server);
        Bytes comes = co_await one->readUntil("\n"_sr, 100);
        CHECK(comes == "* guest2 comes\n"_sr);
        co_await two->write("hello\nand more\nno li"_sr);
        Bytes hello = co_await one->readUntil("\n"_sr, 100);
        CHECK(hello == "guest2: hello\n"_sr);
        co_await one->write("yes\n"_sr);
        Bytes yes = co_await two->readUntil("\n"_sr, 100);
        CHECK(yes == "guest1: yes\n"_sr);
    }
    Bytes more = co_await one->readUntil("\n"_sr, 100);
    CHECK(more == "guest2: and more\n"_sr);
    Bytes goes = co_await one->readUntil("\n"_sr, 100);
    CHECK(goes == "* guest2 goes\n"_sr);
}

/// A directory with a few files, which goes with this.
struct Directory {
    std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("millrace-site-" + std::to_string(::getpid()));
    Directory() {
        std::filesystem::create_directories(path);
        write("index.html", "top");
        write("digits", "0123456789");
        write("large", std::string(kLarge, 'x').c_str());
    }
    static constexpr std::size_t kLarge = 1 << 20; // bytes
    ~Directory() { std::filesystem::remove_all(path); }
    void write(char const* name, char const* text) const {
        std::FILE* file = std::fopen((path / name).c_str(), "w");
        REQUIRE(file);
        std::fputs(text, file);
        std::fclose(file);
    }
};

Future<Void> browse(Address server) {
    Reference<Connection> connection = co_await transport().connect(server);
    co_await connection->write(
        "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
        "POST /count HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n"
        "GET /digits HTTP/1.1\r\nHost: x\r\nRange: bytes=2-4\r\nConnection: close\r\n\r\n"_sr);
    std::string answers = co_await readAll(connection);
    CHECK(answers.starts_with("HTTP/1.1 200 OK\r\n"));
    CHECK(answers.find("\r\n\r\ntopHTTP/1.1 200 OK\r\n") != std::string::npos);
    CHECK(answers.find("\r\n\r\n7\nHTTP/1.1 206 Partial Content\r\n") != std::string::npos);
    CHECK(answers.find("Content-Range: bytes 2-4/10\r\n") != std::string::npos);
    CHECK(answers.ends_with("\r\n\r\n234"));
    Reference<Connection> slow = co_await transport().connect(server);
    double before = now();
    for (char letter : std::string("GET /dig")) {
        co_await slow->write(StringRef(std::string(1, letter)));
        co_await delay(1);
    }
    std::string answer = co_await readAll(slow);
    CHECK(answer.starts_with("HTTP/1.1 408 "));
    CHECK(now() - before < 20);
}

/// Serves at port 1 up to that time. No client needs the grace.
constexpr double kEnd = 5;
template <class Serve>
Future<Void> serveUntilEnd(Serve serve) {
    return serveUntil(transport().listen(1), serve, Future<Void>(delay(kEnd)), 1000);
}

/// Is told of the end of a server that it has asked before.
Future<Void> waitForEnd(Address server, std::string question) {
    Reference<Connection> client = co_await transport().connect(server);
    co_await client->write(StringRef(question));
    co_await client->readExactly(static_cast<std::uint32_t>(question.size()));
    std::string rest = co_await readAll(client);
    CHECK(now() >= kEnd);
    CHECK(now() < kEnd + 1);
}

/// Reads an answer, so many bytes at a time.
Future<std::string> readAnswer(Reference<Connection> from, std::uint32_t bytes, double pause) {
    Bytes header = co_await from->readUntil("\r\n\r\n"_sr, 1000);
    std::string answer = header.toString();
    std::size_t length = std::strtoul(answer.c_str() + answer.find("Content-Length: ") + 16, nullptr, 10);
    for (std::size_t end = answer.size() + length; answer.size() < end;) {
        Bytes part = co_await from->read(bytes);
        REQUIRE(!part.empty());
        answer += part.toString();
        co_await delay(pause);
    }
    co_return answer;
}

/// No request of a client that asks again and again is lost, and the last answer says so.
Future<Void> askAgainAndAgain(Address server) {
    Reference<Connection> client = co_await transport().connect(server);
    for (bool isLast = false; !isLast;) {
        co_await client->write("GET / HTTP/1.1\r\nHost: x\r\n\r\n"_sr);
        std::string answer = co_await readAnswer(client, 100, 0);
        CHECK(answer.ends_with("\r\n\r\ntop"));
        isLast = answer.find("\r\nConnection: close\r\n") != std::string::npos;
        CHECK((now() >= kEnd || !isLast));
    }
    CHECK(now() < kEnd + 1);
    Bytes end = co_await client->read();
    CHECK(end.empty());
}

/// A request of which a part has come before the end is answered, and a long answer goes on.
Future<Void> askLate(Address server) {
    Reference<Connection> client = co_await transport().connect(server);
    co_await client->write("GET /large HTTP/1.1\r\nHo"_sr);
    co_await delayUntil(kEnd + 1);
    co_await client->write("st: x\r\n\r\n"_sr);
    std::string answer = co_await readAnswer(client, 10'000, 0.1);
    CHECK(answer.ends_with(std::string(Directory::kLarge, 'x')));
    CHECK(answer.find("\r\nConnection: close\r\n") != std::string::npos);
    CHECK(now() > kEnd + 10);
    Bytes end = co_await client->read();
    CHECK(end.empty());
}

/// Runs main(address of the server) in a process beside one that serves, and `disturb` beside both.
template <class Main>
void simulate(Future<Void> (*serve)(), Main main, bool isDisturbed) {
    World world(1);
    SimNetwork network(world);
    Process& server = world.start({.name = "server", .main = serve});
    Process& behind = world.start({.name = "echo", .main = serveEcho});
    network.setName("server", {Address(server.address(), 0)});
    network.setName("echo", {Address(behind.address(), 0)});
    Address address(server.address(), 1);
    Process& client = world.start({.name = "client", .main = [=] { return main(address); }});
    if (isDisturbed) {
        world.run(delay(0.3));
        network.partition(client, server, 3);
        network.clog(behind, server, 2);
    }
    world.run(client.onStop());
    CHECK(client.exit() == Error());
    CHECK(server.exit().value_or(Error()) == Error());
}

} // namespace

TEST_CASE("examples: echo, proxy and chat, also over links that are cut for a while") {
    for (bool isDisturbed : {false, true}) {
        simulate(serveEcho, [](Address) { return sendThrough("server"); }, isDisturbed);
        simulate(serveProxy, [](Address) { return sendThrough("server"); }, isDisturbed);
        simulate(serveChat, meet, isDisturbed);
    }
}

TEST_CASE("examples: servers that end tell their clients") {
    simulate([] { return serveUntilEnd(echo); }, [](Address server) { return waitForEnd(server, "hello"); }, false);
    static Room room;
    simulate(
        [] {
            return serveUntilEnd([](Reference<Connection> guest, Event* ending) { return chat(&room, guest, ending); });
        },
        [](Address server) -> Future<Void> {
            Reference<Connection> guest = co_await transport().connect(server);
            std::string heard = co_await readAll(guest);
            CHECK(heard.empty());
            CHECK(now() < kEnd + 1);
        },
        false);
    CHECK(room.guests() == 0);
}

TEST_CASE("examples: an HTTP server that ends lets idle clients go, and answers what was asked") {
    static Directory const directory;
    simulate(
        [] {
            http::StaticFiles files(directory.path.string());
            http::ServerOptions options;
            options.grace = 1000;
            return serveSite(transport().listen(1), files, options, Future<Void>(delay(kEnd)));
        },
        [](Address server) -> Future<Void> {
            co_await (waitForEnd(server, "GET / HTTP/1.1\r\nHost: x\r\n\r\n") && askAgainAndAgain(server) &&
                      askLate(server));
        },
        false);
}

TEST_CASE("examples: a proxy ends a client's connection when it cannot reach what is behind") {
    simulate([] { return serveAtOne([](Reference<Connection> client) { return proxy({"unknown", 1}, client); }); },
             [](Address server) -> Future<Void> {
                 Reference<Connection> client = co_await transport().connect(server);
                 ErrorOr<std::string> end = co_await tryGet(readAll(client));
                 CHECK(end.isError());
             },
             false);
}

TEST_CASE("examples: resolve") {
    simulate(
        serveEcho,
        [](Address server) -> Future<Void> {
            std::string lines = co_await resolve("server");
            CHECK(lines == server.hostToString() + "\n");
            std::string numeric = co_await resolve("::1");
            CHECK(numeric == "::1\n");
        },
        false);
}

TEST_CASE("examples: the HTTP server") {
    static Directory const directory;
    for (bool isDisturbed : {false, true})
        simulate(
            [] {
                http::StaticFiles files(directory.path.string());
                return serveSite(transport().listen(1), files, {}, Never());
            },
            browse, isDisturbed);
}
