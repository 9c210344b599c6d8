// The client of net/examples/redis.h with a Redis server, which the tests start and end.

#include "net/examples/redis.h"

#include "net/real/child_process.h"
#include "tests/flow/support/descriptors.h"
#include "tests/flow/support/temporary_directory.h"

#include <doctest/doctest.h>

#include <csignal>
#include <cstdlib>
#include <unistd.h>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace {

bool hasServer() {
    bool has = std::system("command -v redis-server > /dev/null") == 0;
    if (!has)
        MESSAGE("skipped: redis-server is not installed (tools/setup tests)");
    return has;
}

/// A Redis server at a Unix path in a folder of its own.
class Server {
public:
    explicit Server(std::string const& folder) : path(folder + "/socket") {
        ChildOptions options{.program = "redis-server"};
        options.arguments = {"--port", "0", "--unixsocket", path, "--save", "", "--dir", folder};
        options.output = ChildStream::Null;
        process_ = spawn(options);
    }
    /// Ready when it answers.
    Future<Void> begins() {
        for (int i = 0; i < 1000; ++i) {
            try {
                Redis redis(path);
                Reply reply = co_await redis.command("PING");
                co_return;
            } catch (Error&) { // it does not listen yet
            }
            co_await delay(0.01);
        }
        FAIL("redis-server does not answer");
    }
    Future<Void> end(int signal = SIGTERM) {
        process_->kill(signal);
        co_await process_->onExit();
        ::unlink(path.c_str());
    }

    std::string path;

private:
    Reference<ChildProcess> process_;
};

void withServer(Future<Void> (*test)(Server*)) {
    if (!hasServer())
        return;
    TemporaryDirectory folder;
    RealLoop loop;
    Server server(folder.path());
    loop.run(server.begins());
    loop.run(test(&server));
    loop.run(server.end());
}

Future<Void> add(Redis* redis, int times) {
    for (int i = 0; i < times; ++i)
        co_await redis->command("INCR", "counter");
}

Future<std::string> errorOf(Future<Reply> asked) {
    try {
        co_await std::move(asked);
    } catch (Error& error) {
        co_return std::string(error.name()) + ": " + error.what();
    }
    co_return "no error";
}

} // namespace

TEST_CASE("redis: replies of all kinds, and errors of the server") {
    withServer([](Server* server) -> Future<Void> {
        Redis redis(server->path);
        Reply reply = co_await redis.command("SET", "key", std::string_view("a\0b", 3));
        CHECK((reply.type == REDIS_REPLY_STATUS && reply.text == "OK"));
        reply = co_await redis.command("GET", "key");
        CHECK(reply.text == std::string("a\0b", 3));
        reply = co_await redis.command("GET", "nothing");
        CHECK(reply.type == REDIS_REPLY_NIL);
        co_await redis.command("RPUSH", "list", "x", "y");
        reply = co_await redis.command("LRANGE", "list", "0", "-1");
        REQUIRE(reply.parts.size() == 2);
        CHECK(reply.parts[1].text == "y");
        Future<Reply> wrong = redis.command("LPOP", "key");
        std::string error = co_await errorOf(std::move(wrong));
        CHECK(error == "operation_failed: WRONGTYPE Operation against a key holding the wrong kind of value");
        std::string big(8 << 20, 'x');
        co_await redis.command("SET", "big", big);
        reply = co_await redis.command("GET", "big");
        CHECK(reply.text == big);
    });
}

TEST_CASE("redis: tasks share a connection") {
    withServer([](Server* server) -> Future<Void> {
        Redis redis(server->path);
        Scope tasks;
        for (int i = 0; i < 50; ++i)
            tasks.spawn(add(&redis, 20));
        co_await tasks.join();
        Reply reply = co_await redis.command("GET", "counter");
        CHECK(reply.text == "1000");
    });
}

TEST_CASE("redis: a command is dropped at any time, and the others get their replies") {
    withServer([](Server* server) -> Future<Void> {
        Redis redis(server->path);
        for (int turns = 0; turns < 10; ++turns) {
            Future<Reply> dropped = redis.command("BLPOP", "empty", "0.01"), kept = redis.command("PING");
            for (int i = 0; i < turns; ++i)
                co_await delay(turns % 2 == 0 ? 0 : 0.002);
            dropped = Future<Reply>();
            Reply reply = co_await kept;
            CHECK(reply.text == "PONG");
        }
    });
}

TEST_CASE("redis: its end at any time fails what waits, and leaves nothing") {
    withServer([](Server* server) -> Future<Void> {
        { // what the library makes once
            Redis redis(server->path);
            co_await redis.command("PING");
        }
        int before = openDescriptors();
        for (int turns = 0; turns < 10; ++turns) {
            auto redis = std::make_unique<Redis>(server->path);
            Future<std::string> waiting = errorOf(redis->command("BLPOP", "empty", "0"));
            for (int i = 0; i < turns; ++i)
                co_await delay(turns % 2 == 0 ? 0 : 0.002);
            redis.reset();
            std::string error = co_await waiting;
            CHECK(error == "connection_failed: the connection to the Redis server has ended");
        }
        CHECK(openDescriptors() == before);
    });
}

TEST_CASE("redis: a server that is killed, and a new one") {
    withServer([](Server* server) -> Future<Void> {
        auto redis = std::make_unique<Redis>(server->path);
        co_await redis->command("PING");
        Future<std::string> first = errorOf(redis->command("BLPOP", "empty", "0"));
        Future<std::string> second = errorOf(redis->command("BLPOP", "empty", "0"));
        co_await delay(0.01);
        co_await server->end(SIGKILL);
        std::string error = co_await first;
        CHECK(error == "connection_failed: Server closed the connection");
        error = co_await second;
        CHECK(error == "connection_failed: Server closed the connection");
        CHECK_THROWS_AS((void)redis->command("PING"), Error);
        CHECK_THROWS_AS(Redis(server->path), Error); // nothing listens
        std::string folder = server->path.substr(0, server->path.rfind('/'));
        *server = Server(folder);
        co_await server->begins();
        redis = std::make_unique<Redis>(server->path);
        Reply reply = co_await redis->command("PING");
        CHECK(reply.text == "PONG");
    });
}
